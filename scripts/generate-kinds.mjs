/**
 * Writes src/machinery/kubernetes/built-in-kinds.ts: a value and a type for each kind that a Kubernetes API has, from the embedded API's own
 * list and the types of objects. A kind whose type is narrower than the generated one is declared in kinds.ts beside it.
 * Run after an update of them: `node -C rollkeeper:source --import tsx scripts/generate-kinds.mjs`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import { createKindRegistry } from '../src/apiserver/index.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const types = path.join(root, 'src', 'machinery', 'generated', 'types');
const output = path.join(root, 'src', 'machinery', 'kubernetes', 'built-in-kinds.ts');
const byHand = readFileSync(path.join(root, 'src', 'machinery', 'kubernetes', 'kinds.ts'), 'utf8');

const moduleOf = ({ group, version }) => `${group.split('.')[0] || 'core'}-${version}`;
const declares = (module, kind) => {
  try {
    return readFileSync(path.join(types, `${module}.ts`), 'utf8').includes(`export interface ${kind} {`);
  } catch {
    return false;
  }
};

/** The newest version of each kind, of the group that it is at home in: Events are served by two. */
const newest = new Map();
const rank = ({ group, version }) =>
  (group === '' ? 1 : 0) + (/^v\d+$/.test(version) ? 100 : 0) + 10 * Number(/^v(\d+)/.exec(version)[1]);
for (const { type } of createKindRegistry().kinds) {
  if (!declares(moduleOf(type), type.kind) || new RegExp(`export const ${type.kind}\\b`).test(byHand))
    continue;
  const before = newest.get(type.kind);
  if (!before || rank(type) > rank(before)) newest.set(type.kind, type);
}
const kinds = [...newest.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
const modules = [...new Set(kinds.map(moduleOf))].sort();
const nameOf = (module) => module.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

const text = `// Made by scripts/generate-kinds.mjs.
${modules.map((module) => `import type * as ${nameOf(module)} from '../generated/types/${module}.js';`).join('\n')}
import type { KubernetesObject, OfKind } from './objects.js';
import { kindOf } from './resource-type.js';

/** An object as the API has it, with the metadata that every object has. */
type Built<T, Name extends string> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & KubernetesObject & OfKind<Name>;

${kinds
  .map((type) => {
    const { group, kind: word, namespaced, resource, version } = type;
    const args = [group, version, resource, word].map((each) => `'${each}'`);
    const scope = namespaced ? '' : ', of the whole cluster';
    return `/** ${word}, \`${group === '' ? version : `${group}/${version}`}\`${scope}. */
export type ${word} = Built<${nameOf(moduleOf(type))}.${word}, '${word}'>;
export const ${word} = kindOf<${word}>(${args.join(', ')}${namespaced ? '' : ', false'});`;
  })
  .join('\n\n')}
`;
const options = await prettier.resolveConfig(output);
writeFileSync(output, await prettier.format(text, { ...options, parser: 'typescript' }));
console.log(`${kinds.length} kinds`);
