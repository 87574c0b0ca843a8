// The last step of the build: `dist/main.js` with all that it loads, in few files (`dist/bundle`) in place of some 2500. A process
// so has only that in memory which can be reached, and starts in half the time. The modules stay where they are: as
// `dist/main-modules.js` for tools that reach into single ones, and as the doors of the packages.
import { cpSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { build } from 'esbuild';
import './place-packages.mjs';
import './inline-lua.mjs';
import { BUILT, DIST, ROOT } from './lib/workspaces.mjs';

const MODULES = join(DIST, 'main-modules.js');
const PROGRAM = join('rollkeeper', 'main.js');
/** Files that modules of the packages read beside them; the bundle finds them below `dist/files`. */
const ASSETS = [
  'apiserver/kinds/generated',
  'apiserver/documents/openapi/generated',
  'apiserver/http/protobuf/generated',
  'apiserver/schema/generated',
];

/**
 * The folder of each package's modules, with links followed as the bundler follows them, and its place below `dist`.
 */
const HOMES = [...BUILT].map(([name, folder]) => ({
  folder: realpathSync(folder),
  place: name === 'rollkeeper' ? name : join('files', name),
}));

/** Loaded from node_modules: what has files or threads of its own. All of it is a dependency of ours or done without. */
const LEFT_OUT = ['msgpackr-extract', 'pino', 'pino-pretty'];
/** Nest and its terminus look for these, and do without them. */
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

/**
 * Parts of packages that come along with their index files and that nothing of ours reaches, by their path in node_modules. Their text
 * alone would be a fifth of the program, and Node's REPL brings Node's own copy of undici with it.
 */
const UNREACHED = [
  // A backend in another database: 0.3 MB of SQL.
  {
    path: /\/bullmq\/dist\/esm\/postgres\/.*\.js$/,
    exports: ['PostgresQueueBackend', 'createPostgresBackend'],
  },
  // Repeated jobs by cron expressions, with luxon.
  { path: /\/cron-parser\/dist\/index\.js$/, exports: ['CronExpressionParser'] },
  // Uploads, with a second mime-db.
  { path: /\/@nestjs\/platform-express\/multer\/index\.js$/, exports: [] },
  { path: /\/@nestjs\/core\/repl\/index\.js$/, exports: [] },
  // Every language but English, which is imported by itself.
  { path: /\/zod\/v4\/locales\/index\.js$/, exports: [] },
];

/** Modules that a process must not load before it needs them, by the module that the process begins with. */
const KEPT_APART = [
  {
    process: 'dist/rollkeeper/cli/program.js',
    from: /^src\/(apiserver|scheduler|simulator|controllers|nest)\//,
  },
  { process: 'dist/rollkeeper/replica/index.js', from: /^src\/(apiserver|scheduler|simulator)\// },
  {
    process: 'dist/rollkeeper/replica/scheduler-process/run-node-process.js',
    from: /^src\/(apiserver|controllers|nest)\//,
  },
  { process: 'src/apiserver/dist/index.js', from: /^src\/(controllers|scheduler|simulator|nest)\// },
];
/** A table of a few words, which metrics are labelled with. */
const SMALL = new Set(['src/apiserver/dist/documents/kubernetes-version.js']);

/** Each as an empty module; what is imported from it by name throws when it is used. */
const leftEmpty = {
  name: 'left-empty',
  setup({ onEnd, onLoad }) {
    const met = new Set();
    for (const part of UNREACHED) {
      onLoad({ filter: part.path }, ({ path }) => {
        met.add(part);
        return { contents: emptyModule(path, part.exports) };
      });
    }
    onEnd(() => {
      const unmet = UNREACHED.filter((part) => !met.has(part));
      if (unmet.length > 0)
        throw new Error(`no longer in any package: ${unmet.map(({ path }) => path).join(', ')}`);
    });
  },
};

function emptyModule(path, names) {
  const what = JSON.stringify(`${relative(ROOT, path)} is not in the bundle`);
  const thrower = `new Proxy(function () {}, { get() { throw new Error(${what}); }, apply() { throw new Error(${what}); }, construct() { throw new Error(${what}); } })`;
  return names.map((name) => `export const ${name} = ${thrower};`).join('\n') || 'export {};';
}

/**
 * Leaves packages where they are that are loaded when they are first needed, and leaves out tables of character sets
 * that no client sends.
 */
const loadedWhenNeeded = {
  name: 'loaded-when-needed',
  setup({ onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ kind, path }) =>
      kind === 'dynamic-import' && !path.startsWith('@rollkeeper/') ? { path, external: true } : undefined,
    );
    onResolve({ filter: /^\.\/tables\/.*\.json$/ }, ({ importer, path }) =>
      /\/iconv-lite\/encodings\/[^/]+$/.test(importer)
        ? { path: `iconv-lite/encodings/${path.slice(2)}`, external: true }
        : undefined,
    );
  },
};

/** Modules of ours find the files beside them, wherever their code has gone. */
const whereTheyWere = {
  name: 'where-they-were',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const place = placeOf(path);
      // The program itself is the bundle: its children are started from that.
      if (place === undefined || place === PROGRAM) return undefined;
      const code = readFileSync(path, 'utf8');
      if (!code.includes('import.meta')) return undefined;
      const own = `new URL(${JSON.stringify(`../${place}`)}, import.meta.url)`;
      const contents = code
        .replaceAll('import.meta.url', `${own}.href`)
        .replaceAll('import.meta.dirname', `require('node:url').fileURLToPath(new URL('.', ${own}))`);
      return { contents };
    });
  },
};

/** The place of a module's files in the bundle, below `dist`; undefined for modules that are not ours. */
function placeOf(path) {
  const home = HOMES.find(({ folder }) => path.startsWith(folder + sep));
  return home && join(home.place, relative(home.folder, path));
}

for (const asset of ASSETS) {
  const [name, ...rest] = asset.split('/');
  cpSync(join(BUILT.get(name), ...rest), join(DIST, 'files', asset), { recursive: true });
}
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
  plugins: [leftEmpty, loadedWhenNeeded, whereTheyWere],
  // Names stay as they are, so that profiles and stacks can be read.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
});
assertKeptApart(metafile.inputs);
writeFileSync(join(DIST, 'main.js'), "#!/usr/bin/env node\nimport './bundle/main.js';\n");
writeFileSync(join(DIST, 'bundle', 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));

/** A single import of a package's door can bring all of it into the memory of every replica, and nothing else would show it. */
function assertKeptApart(inputs) {
  for (const { from, process } of KEPT_APART) {
    if (!inputs[process]) throw new Error(`no longer a module of the program: ${process}`);
    const path = pathTo(inputs, process, (module) => from.test(module) && !SMALL.has(module));
    if (path) throw new Error(`a process would load what it seldom needs:\n  ${path.join('\n  -> ')}`);
  }
}

/** The shortest chain of imports, dynamic ones left out, from a module to one of those; undefined if there is none. */
function pathTo(inputs, start, isWanted) {
  const importers = new Map([[start, undefined]]);
  for (const module of importers.keys()) {
    if (isWanted(module)) {
      const path = [];
      for (let each = module; each !== undefined; each = importers.get(each)) path.unshift(each);
      return path;
    }
    for (const { kind, path } of inputs[module]?.imports ?? [])
      if (kind !== 'dynamic-import' && !importers.has(path)) importers.set(path, module);
  }
  return undefined;
}

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
