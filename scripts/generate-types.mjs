/**
 * Generates the types of the API's objects, one module for a group and version, in src/machinery/generated/types, from the
 * definitions of `kubernetes-models`, which nothing needs at run time. They are not in the repository: `npm install` and the
 * build run this, which takes two seconds, and nothing if they are there for the installed version.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { GROUP_VERSIONS } from './lib/schemas/group-versions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const models = path.join(root, 'node_modules', 'kubernetes-models');
const machinery = path.join(root, 'node_modules', '@kubernetes-models', 'apimachinery');
const output = path.join(root, 'src', 'machinery', 'generated', 'types');
const stamp = path.join(output, '.generated-from');

if (!existsSync(models)) {
  // Installed without what a build needs (`npm install --omit=dev`).
  console.log('kubernetes-models is not installed, so no types are generated');
  process.exit(0);
}
const origin = fingerprint();
if (isUpToDate()) process.exit(0);
const { default: ts } = await import('typescript');

/** By module, by name: the text of a type, and what it takes from other modules. */
const modules = new Map();
const queue = new Set(
  GROUP_VERSIONS.flatMap((groupVersion) =>
    readdirSync(path.join(models, groupVersion))
      .filter((file) => file.endsWith('.d.ts') && file !== 'index.d.ts')
      .map((file) => path.join(models, groupVersion, file)),
  ),
);
for (const file of queue) take(file);

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
for (const [name, types] of modules) writeFileSync(path.join(output, `${name}.ts`), textOf(name, types));
writeFileSync(stamp, [origin, ...modules.keys()].join('\n'));
console.log(
  `${[...modules.values()].reduce((sum, { size }) => sum + size, 0)} types in ${modules.size} modules`,
);

/** A checkout of an earlier commit, which had the types in the repository, may have taken some of them away. */
function isUpToDate() {
  if (!existsSync(stamp)) return false;
  const [from, ...names] = readFileSync(stamp, 'utf8').split('\n');
  return from === origin && names.every((name) => existsSync(path.join(output, `${name}.ts`)));
}

/** Identifies what the types are generated from: the versions of the definitions, and this script. */
function fingerprint() {
  const versions = [models, machinery].map((folder) => readFileSync(path.join(folder, 'package.json')));
  const scripts = ['generate-types.mjs', 'lib/schemas/group-versions.mjs'].map((file) =>
    readFileSync(path.join(root, 'scripts', file)),
  );
  const hash = createHash('sha256');
  for (const part of [...versions, ...scripts]) hash.update(part);
  return hash.digest('hex');
}

/** `apps/v1` → `apps-v1`, `rbac.authorization.k8s.io/v1` → `rbac-v1`, `v1` → `core-v1`; what they all use is `meta-v1`. */
function moduleOf(file) {
  if (file.startsWith(machinery)) return 'meta-v1';
  const [version, group = 'core'] = path.relative(models, path.dirname(file)).split(path.sep).reverse();
  return `${group.split('.')[0]}-${version}`;
}

function take(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const declared = source.statements.find(
    (each) =>
      ts.isInterfaceDeclaration(each) || (ts.isTypeAliasDeclaration(each) && each.name.text.startsWith('I')),
  );
  if (!declared) throw new Error(`${file}: no type`);
  const imported = new Map();
  for (const statement of source.statements.filter(ts.isImportDeclaration)) {
    const from = fileOfImport(statement.moduleSpecifier.text, file);
    if (!from) continue;
    queue.add(from);
    for (const { name } of statement.importClause.namedBindings.elements)
      imported.set(name.text, { module: moduleOf(from), name: path.basename(from, '.d.ts') });
  }
  const name = path.basename(file, '.d.ts');
  const used = [...imported].filter(([alias]) => new RegExp(`\\b${alias}\\b`).test(declared.getText(source)));
  let text = declared.getFullText(source).trim();
  // A schema of schemas names itself.
  text = text.replaceAll(new RegExp(`\\bI${name}\\b`, 'g'), name);
  for (const [alias, target] of used) text = text.replaceAll(new RegExp(`\\b${alias}\\b`, 'g'), target.name);
  text = text
    .replace(' extends TypeMeta', '')
    .replaceAll(/^( *)"([A-Za-z_$][\w$]*)"(\??): /gm, '$1$2$3: ')
    .replaceAll(/^( {4})+/gm, (indent) => '  '.repeat(indent.length / 4));
  const module = moduleOf(file);
  if (!modules.has(module)) modules.set(module, new Map());
  modules.get(module).set(name, { text, used: used.map(([, target]) => target) });
}

function fileOfImport(specifier, from) {
  if (specifier.startsWith('.'))
    return `${path.resolve(path.dirname(from), specifier.replace(/\.js$/, ''))}.d.ts`;
  const prefix = '@kubernetes-models/apimachinery/';
  if (!specifier.startsWith(prefix)) return undefined;
  const file = path.join(machinery, `${specifier.slice(prefix.length)}.d.ts`);
  if (!existsSync(file)) throw new Error(`${from}: no ${specifier}`);
  return file;
}

function textOf(module, types) {
  const byModule = new Map();
  for (const { used } of types.values())
    for (const target of used)
      if (target.module !== module)
        byModule.set(target.module, (byModule.get(target.module) ?? new Set()).add(target.name));
  const imports = [...byModule]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([from, names]) => `import type { ${[...names].sort().join(', ')} } from './${from}.js';`);
  const body = [...types].sort(([one], [other]) => one.localeCompare(other)).map(([, { text }]) => text);
  return `// Made by scripts/generate-types.mjs.\n${imports.join('\n')}\n\n${body.join('\n\n')}\n`;
}
