// Loaded into the API server before its own code (`node --import`), by the fuzzer only: the product has no hooks for it.
// Tells what memory it has, after a collection of garbage where that is asked for, and whether anybody has written on what all objects share.
import v8 from 'node:v8';
import vm from 'node:vm';

const shared = { Object, Array, String, Number, Boolean, Function, Map, Set, Promise, RegExp, Error };
const keysOf = () =>
  Object.entries(shared).flatMap(([name, type]) =>
    Reflect.ownKeys(type.prototype).map((key) => `${name}.prototype.${String(key)}`),
  );
const genuine = new Set(keysOf());

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc');

process.on('message', (message) => {
  if (message?.fuzz !== 'measure') return;
  if (message.collects) collect();
  const polluted = keysOf().filter((key) => !genuine.has(key));
  process.send?.({ type: 'measured', ...process.memoryUsage(), polluted });
});
