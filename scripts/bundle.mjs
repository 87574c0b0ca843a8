// The second half of the build: `dist/main.js` with all that it loads, in few files (`dist/bundle`) in place of some 2500. A process
// so has only that in memory which can be reached, and starts in half the time. What the compiler wrote stays beside it: as
// `dist/main-modules.js` for tools that reach into single modules, and as the doors of the package.
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, 'dist');
const MODULES = join(DIST, 'main-modules.js');

/** Loaded from node_modules: what has files or threads of its own. All of it is a dependency of ours or done without. */
const LEFT_OUT = ['msgpackr-extract', 'pino', 'pino-pretty'];
/** What Nest and its terminus look for and do without. */
const OPTIONAL = [
  '@fastify/static',
  '@grpc/*',
  '@mikro-orm/*',
  '@nestjs/axios',
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/mongoose',
  '@nestjs/sequelize',
  '@nestjs/typeorm',
  '@nestjs/websockets',
  '@nestjs/websockets/*',
  'class-transformer',
  'class-transformer/*',
  'class-validator',
];

/** Packages that are loaded when they are first needed, from where they are. */
const loadedWhenNeeded = {
  name: 'loaded-when-needed',
  setup({ onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

/** Modules of ours find the files beside them, wherever their code has gone. */
const whereTheyWere = {
  name: 'where-they-were',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (!path.startsWith(DIST + sep) || path === MODULES) return undefined;
      const code = readFileSync(path, 'utf8');
      if (!code.includes('import.meta')) return undefined;
      const own = `new URL(${JSON.stringify(`../${relative(DIST, path)}`)}, import.meta.url)`;
      const contents = code
        .replaceAll('import.meta.url', `${own}.href`)
        .replaceAll('import.meta.dirname', `require('node:url').fileURLToPath(new URL('.', ${own}))`);
      return { contents };
    });
  },
};

// The compiler empties the folder: where it is, this is the second run after one.
if (!existsSync(MODULES)) renameSync(join(DIST, 'main.js'), MODULES);
rmSync(join(DIST, 'bundle'), { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: { main: MODULES },
  outdir: join(DIST, 'bundle'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  mainFields: ['module', 'main'],
  external: [...LEFT_OUT, ...OPTIONAL],
  plugins: [loadedWhenNeeded, whereTheyWere],
  // Names stay as they are: profiles and stacks shall be read.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
});
writeFileSync(join(DIST, 'main.js'), "#!/usr/bin/env node\nimport './bundle/main.js';\n");
writeFileSync(join(DIST, 'bundle', 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));

/** The licence of every package that is in the bundle, as the licences ask for. */
function licences(inputs) {
  const folders = new Set(
    inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(ROOT, folder)).find((each) => /^(licen[cs]e|copying)/i.test(each));
    const text = file ? readFileSync(join(ROOT, folder, file), 'utf8').trim() : '';
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
