#!/usr/bin/env node
// kubectl (1.26 and newer) runs this to complete `kubectl rollkeeper …`: the words are the arguments, the last one is
// being typed.
process.argv.splice(2, 0, '__complete', '--');
await import('./rollkeeper.mjs');
