// V8's observations of generated modules, in the text of observe.h. Where V8's messages do not tell traps
// apart, one word stands for all of them; differential.cc knows which.
//
//   node differential.mjs FOLDER
//
// FOLDER holds N.wasm and N.plan for N = 0, 1, ...; writes N.seen beside them.

import fs from "node:fs";
import path from "node:path";

const fuelPerCall = 1000;
const tableEntriesSeen = 32;
const words = new DataView(new ArrayBuffer(8));

const traps = [
  [/unreachable/, "unreachable"],
  [/memory access out of bounds|memory index is out of bounds|data segment/, "memory-out-of-bounds"],
  [/divide by zero|remainder by zero/, "integer-divide-by-zero"],
  [/divide result unrepresentable/, "integer-overflow"],
  [/float unrepresentable in integer range/, "integer-overflow"],
  [/null function or function signature/, "indirect-call-type-mismatch"],
  [/table|element segment/, "table-out-of-bounds"],
  [/Maximum call stack/, "stack-exhausted"],
];

function trapWord(error) {
  for (const [pattern, word] of traps) if (pattern.test(error.message)) return word;
  throw error;
}

const hex = (bits) => "0x" + bits.toString(16);

function f64Bits(number) {
  words.setFloat64(0, number);
  return words.getBigUint64(0);
}

function valueText(type, value) {
  switch (type) {
    case "i32":
      return "i32:" + hex(value >>> 0);
    case "i64":
      return "i64:" + hex(BigInt.asUintN(64, value));
    case "f32":
      if (Number.isNaN(value)) return "f32:nan";
      words.setFloat32(0, value);
      return "f32:" + hex(words.getUint32(0));
    case "f64":
      return Number.isNaN(value) ? "f64:nan" : "f64:" + hex(f64Bits(value));
    default:
      return type + (value === null ? ":null" : ":ref");
  }
}

function argument(text) {
  const [type, bits] = text.split(":");
  switch (type) {
    case "i32":
      return Number(bits) | 0;
    case "i64":
      return BigInt(bits);
    case "f32":
      words.setUint32(0, Number(bits));
      return words.getFloat32(0);
    case "f64":
      words.setBigUint64(0, BigInt(bits));
      return words.getFloat64(0);
    default:
      return null;
  }
}

class Host {
  state = 1n;
  exchange = (integer, number) => {
    const bits = Number.isNaN(number) ? 0x7ff8000000000000n : f64Bits(number);
    const mixed = bits ^ (bits >> 32n);
    this.state = BigInt.asUintN(64, this.state * 6364136223846793005n + BigInt(integer >>> 0) + mixed);
    return this.state;
  };
}

function memoryText(memory) {
  const bytes = new Uint8Array(memory.buffer);
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return `${bytes.length / 65536} pages ${(hash >>> 0).toString(16)}`;
}

function tableText(table) {
  let text = `${table.length} `;
  for (let i = 0; i < Math.min(table.length, tableEntriesSeen); ++i) text += table.get(i) === null ? "0" : "1";
  return text;
}

function stateText(kind, type, value) {
  if (kind === "memory") return memoryText(value);
  if (kind === "table") return tableText(value);
  return valueText(type, value.value);
}

// `plan`: the lines of plan_of().
function observe(bytes, plan) {
  const host = new Host();
  const module = new WebAssembly.Module(bytes);
  let instance;
  try {
    instance = new WebAssembly.Instance(module, { host: { exchange: host.exchange } });
  } catch (error) {
    return `! ${trapWord(error)}\n`;
  }
  const exported = WebAssembly.Module.exports(module).map(({ name }) => instance.exports[name]);
  let text = "";
  for (const line of plan) {
    const [kind, index, ...rest] = line.split(" ");
    if (kind !== "call") {
      text += `${kind} ${index} ${stateText(kind, rest[0], exported[index])}\n`;
      continue;
    }
    const split = rest.indexOf("#");
    if (instance.exports.fuel) instance.exports.fuel.value = fuelPerCall;
    text += `call ${[index, ...rest.slice(0, split)].join(" ")}\n`;
    try {
      const result = exported[index](...rest.slice(0, split).map(argument));
      const types = rest.slice(split + 1);
      const results = types.length === 1 ? [result] : types.length === 0 ? [] : result;
      text += "=" + types.map((type, i) => " " + valueText(type, results[i])).join("") + "\n";
    } catch (error) {
      const word = trapWord(error);
      text += `! ${word}\n`;
      if (word === "stack-exhausted") break;
    }
  }
  return text + `host ${host.state.toString(16)}\n`;
}

const folder = process.argv[2];
for (let n = 0; fs.existsSync(path.join(folder, `${n}.wasm`)); ++n) {
  const plan = fs.readFileSync(path.join(folder, `${n}.plan`), "utf8").split("\n").filter(Boolean);
  const bytes = fs.readFileSync(path.join(folder, `${n}.wasm`));
  fs.writeFileSync(path.join(folder, `${n}.seen`), observe(bytes, plan));
}
