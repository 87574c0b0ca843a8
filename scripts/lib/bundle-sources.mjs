// One file of a program of tests, with the packages' sources and all that they import: it starts faster than its thousand modules do,
// and runs faster than with tsx, which names every function again each time it is made.
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from './setup.mjs';

/** Loaded from node_modules: what has files or threads of its own. */
export const LEFT_OUT = ['msgpackr-extract', 'pino', 'pino-pretty'];

/** Our modules find the files beside them, wherever their code has gone. */
const whereTheyAre = {
  name: 'where-they-are',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (path.includes('node_modules') || !text.includes('import.meta')) return undefined;
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Writes the program whose first module is `entry` to `outfile`, an ES module. Rejects if it cannot be compiled.
 * @param options.root the folder of the sources. @default this repository
 * @param options.nodePaths where packages are looked for last. @default nowhere else
 */
export async function bundleSources(
  entry,
  outfile,
  { logLevel = 'warning', nodePaths = [], root = ROOT } = {},
) {
  await build({
    ...{ entryPoints: [entry], outfile, absWorkingDir: root, plugins: [whereTheyAre] },
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node22', logLevel, nodePaths },
    ...{ conditions: ['rollkeeper:source'], external: LEFT_OUT },
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    // Packages that are written as CommonJS have names of their own for it.
    logOverride: { 'commonjs-variable-in-esm': 'silent' },
  });
}
