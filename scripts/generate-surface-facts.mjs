/**
 * Writes what can be read off the recorded surface of a genuine API server and off nothing else:
 *
 * - src/apiserver/documents/openapi/generated/definitions.json: what its definitions say beyond the shapes of the types
 * - src/apiserver/kinds/generated/columns.json: what the columns of its tables mean, by the schema of the kind
 *
 * Run after a new recording or a change of the types:
 * `node -C rollkeeper:source --import tsx scripts/generate-surface-facts.mjs`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { createKindRegistry, createSchemaRegistry } from '../src/apiserver/index.js';
import { ANSWERED_TYPES } from '../src/apiserver/documents/discovery/index.js';
import { openApiSchemas } from '../src/apiserver/documents/openapi/schemas.js';
import { shownDefinition } from '../test/conformance/surface-openapi.js';

const root = new URL('..', import.meta.url);
const recording = new URL('test/vectors/surface-1.36.json.gz', root);
const { openapi, wire } = JSON.parse(gunzipSync(readFileSync(recording)));
const kinds = createKindRegistry();

const DEFINITIONS = 'src/apiserver/documents/openapi/generated/definitions.json';
write(DEFINITIONS, { over: {}, only: {} });
write(DEFINITIONS, definitionFacts(openapi.v2.definitions));
write('src/apiserver/kinds/generated/columns.json', columnTexts());

function definitionFacts(recorded) {
  const schemas = openApiSchemas(kinds, createSchemaRegistry(), 2);
  const over = {};
  const only = {};
  for (const [name, theirs] of Object.entries(recorded)) {
    const ours = schemas.get(name);
    if (!ours) only[name] = theirs;
    const patch = ours && patchBetween(shownDefinition(ours), theirs);
    if (patch) over[name] = patch;
  }
  return { over, only };
}

/** The merge patch from one value to the other; undefined where they are equal. */
function patchBetween(from, to) {
  if (JSON.stringify(from) === JSON.stringify(to)) return undefined;
  if (!isObject(from) || !isObject(to)) return to;
  const patch = {};
  for (const name of Object.keys(from)) if (!(name in to)) patch[name] = null;
  for (const [name, value] of Object.entries(to)) {
    const change = name in from ? patchBetween(from[name], value) : value;
    if (change !== undefined) patch[name] = change;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function columnTexts() {
  const texts = {};
  for (const [probe, { cols }] of Object.entries(wire)) {
    const [section, groupVersion, resource] = probe.split(' ');
    if (section !== 'columns') continue;
    const schema = schemaOf(groupVersion, resource);
    texts[schema] = Object.fromEntries(cols.map(([name, , , , text]) => [name, text]));
  }
  return texts;
}

function schemaOf(groupVersion, resource) {
  const [, ...path] = groupVersion.split('/');
  const [group, version] = path.length === 1 ? ['', ...path] : path;
  const answered = ANSWERED_TYPES.find((type) => type.group === group && type.resource === resource);
  const { schema } = kinds.find(group, version, resource) ?? answered;
  return schema;
}

function write(file, contents) {
  writeFileSync(fileURLToPath(new URL(file, root)), `${JSON.stringify(contents)}\n`);
}
