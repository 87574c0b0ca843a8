#!/usr/bin/env node
import { fileURLToPath } from 'node:url';

const OLDEST = [22, 19];

/** Before anything is loaded that an older Node would stumble over. */
function isNodeTooOld(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

if (isNodeTooOld()) {
  process.stderr.write(
    `rollkeeper: Node ${OLDEST.join('.')} or newer is needed, this is ${process.version}; \`npx rollkeeper\` brings one\n`,
  );
  process.exitCode = 1;
} else {
  const { keepStringsFast } = await import('./process/fast-strings.js');
  keepStringsFast();
  await import('reflect-metadata');
  const { createProgram } = await import('./cli/program.js');
  await createProgram(fileURLToPath(import.meta.url)).parseAsync();
}
