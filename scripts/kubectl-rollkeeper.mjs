#!/usr/bin/env node
// `kubectl rollkeeper …`: kubectl runs this for its plugin. The same program, which calls itself as it was called.
process.env.ROLLKEEPER_CALLED_AS = 'kubectl rollkeeper';
await import('./rollkeeper.mjs');
