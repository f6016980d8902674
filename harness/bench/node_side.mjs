// Node's side of the comparison in corpus_figures.cc. Reads one JSON request a line, answers one JSON line.
//
//   {"load": path, "init": export or null, "calls": [{"export", "args": [[type, slot]...], "want": [[type, slot]...],
//     "trap": bool}]}                                                 -> {"ok": true}
//   {"run": n}   n iterations, every result compared                   -> {"ns": CPU nanoseconds}
//
// Slots are decimal strings of unsigned 64-bit numbers, floats by bit pattern.
import fs from 'node:fs';
import readline from 'node:readline';

const view = new DataView(new ArrayBuffer(8));

function fromSlot([type, slot]) {
  view.setBigUint64(0, BigInt(slot), true);
  switch (type) {
    case 'i32': return view.getInt32(0, true);
    case 'i64': return view.getBigInt64(0, true);
    case 'f32': return view.getFloat32(0, true);
    case 'f64': return view.getFloat64(0, true);
    default: throw new Error(`a ${type} cannot be passed`);
  }
}

let calls = [];

function load(request) {
  const module = new WebAssembly.Module(fs.readFileSync(request.load));
  const abort = () => { throw new WebAssembly.RuntimeError('abort'); };
  const { exports } = new WebAssembly.Instance(module, { env: { abort } });
  if (request.init) exports[request.init]();
  calls = request.calls.map(call => ({
    name: call.export,
    f: exports[call.export],
    args: call.args.map(fromSlot),
    want: call.want.map(fromSlot),
    trap: call.trap,
  }));
}

// NaN payloads do not survive JavaScript, so a NaN is as good as another.
const same = (a, b) => a === b || (a !== a && b !== b);

function once(call) {
  if (call.trap) {
    try {
      call.f(...call.args);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) return;
      throw error;
    }
    throw new Error(`${call.name} returned, but should trap`);
  }
  const got = call.f(...call.args);
  const results = call.want.length === 0 ? [] : call.want.length === 1 ? [got] : got;
  for (let i = 0; i < call.want.length; i++) {
    if (!same(results[i], call.want[i])) throw new Error(`${call.name}: wanted ${call.want[i]}, seen ${results[i]}`);
  }
}

function run(n) {
  const before = process.cpuUsage();
  for (let i = 0; i < n; i++) {
    for (const call of calls) once(call);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) * 1000;
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    if (request.load) {
      load(request);
      answer = { ok: true };
    } else {
      answer = { ns: run(request.run) };
    }
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
