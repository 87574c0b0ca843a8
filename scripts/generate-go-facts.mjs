/**
 * Writes src/apiserver/schema/generated/go: what the Go types of the API have that no OpenAPI document tells, and that
 * clients see nevertheless.
 *
 * - `types`: the names of types that are texts, numbers, lists or maps, which messages about a wrong JSON type have
 * - `inside`: the embedded structs that a field is in, which messages have in the path
 * - `always`: what is written of a field that is empty: a struct, and all that has no `omitempty`
 *
 * And src/apiserver/kinds/generated/internal.json: the fields of the types that messages about invalid values show as Kubernetes has them inside.
 *
 * Run after an update of `kubernetes-models`, with a folder in which the sources of k8s.io/api, k8s.io/apimachinery,
 * k8s.io/apiextensions-apiserver, k8s.io/kube-aggregator and k8s.io/kubernetes are, of the same release:
 * `node scripts/generate-go-facts.mjs FOLDER`
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoPackages } from './lib/schemas/go-types.mjs';
import { internalTypes } from './lib/schemas/internal-types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const generated = path.join(root, 'src/apiserver/schema/generated');
const target = path.join(generated, 'go');
const [sources] = process.argv.slice(2);
if (!sources) throw new Error('usage: node scripts/generate-go-facts.mjs FOLDER');

const packages = new GoPackages(sources);
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const file of readdirSync(path.join(generated, 'types'))) {
  const schemas = JSON.parse(readFileSync(path.join(generated, 'types', file), 'utf8'));
  const facts = packages.factsOf(file.replace(/\.json$/, ''), schemas);
  if (Object.keys(facts).length > 0) writeFileSync(path.join(target, file), `${JSON.stringify(facts)}\n`);
}
writeFileSync(
  path.join(root, 'src/apiserver/kinds/generated/internal.json'),
  `${JSON.stringify(internalTypes(sources))}\n`,
);
