import { runConformanceCli } from './conformance-cli.js';
import { formats } from './formats.js';

process.exitCode = await runConformanceCli(process.argv.slice(2), formats, {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
});
