(module (func (export "trap") unreachable))
