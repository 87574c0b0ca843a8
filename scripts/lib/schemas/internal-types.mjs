import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The types that messages about invalid values show in their internal form, by the package that has them. */
const SHOWN = {
  apiextensions: [
    'CustomResourceDefinitionVersion',
    'JSONSchemaProps',
    'JSONSchemaPropsOrArray',
    'ValidationRule',
  ],
  apps: ['DaemonSetUpdateStrategy', 'DeploymentStrategy', 'StatefulSetUpdateStrategy'],
  batch: ['PodFailurePolicy', 'SuccessPolicy'],
  core: [
    'EventSource',
    'NodeAddress',
    'ObjectReference',
    'PersistentVolumeSource',
    'PodTemplateSpec',
    'ServicePort',
    'Taint',
  ],
  resource: ['ResourceClaimSpec', 'ResourceClaimTemplateSpec'],
  storage: ['VolumeAttachmentSpec'],
};

/** Texts and numbers in Go, and what JSON writes of an empty one. */
const SCALARS = {
  'metav1.Time': null,
  'resource.Quantity': '0',
  'intstr.IntOrString': 0,
  'types.UID': '',
  JSON: null,
};
const NUMBER = /^u?int(?:8|16|32|64)?$|^float(?:32|64)$|^byte$/;

/**
 * The fields of internal types in their order, as `[name, field, type]`: how JSON names it, how the versioned type names it, and what
 * it holds: `{ list }`, `{ map }`, `{ pointer }`, `{ struct }` by its name, `{ versioned }` for what is written as in the API, or the
 * value of an empty one. An embedded struct is `['', '', type]`.
 * @param sources the folder with `kubernetes`, `api` and `apimachinery`
 */
export function internalTypes(sources) {
  const found = {};
  const packages = new Map();
  const read = (name) => {
    if (!packages.has(name)) packages.set(name, readTypes(sources, name));
    return packages.get(name);
  };
  const add = (owner, local) => {
    const key = `${owner}.${local}`;
    if (found[key]) return;
    const { internal, versioned } = read(owner);
    const fields = internal.get(local);
    if (!fields) throw new Error(`${key} is no struct`);
    found[key] = [];
    const jsonOf = new Map((versioned.get(local) ?? []).map((field) => [field.go, field.json]));
    for (const { go, json, type } of fields) {
      if (go === '') found[key].push(['', '', kindOf(owner, type)]);
      else found[key].push([json || go, json || jsonOf.get(go) || lowerFirst(go), kindOf(owner, type)]);
    }
  };
  const kindOf = (owner, type) => {
    if (type.startsWith('*')) return { pointer: kindOf(owner, type.slice(1)) };
    if (type.startsWith('[]')) return { list: kindOf(owner, type.slice(2)) };
    const map = /^map\[[\w.]+\](.*)$/.exec(type);
    if (map) return { map: kindOf(owner, map[1]) };
    if (type === 'string') return '';
    if (type === 'bool') return false;
    if (NUMBER.test(type)) return 0;
    if (type in SCALARS) return SCALARS[type];
    if (/^(?:metav1|runtime)\./.test(type)) return { versioned: true };
    const [, from = owner, local] = /^(?:(\w+)\.)?(\w+)$/.exec(type) ?? [];
    const base = from === 'api' ? 'core' : from;
    const named = read(base).named.get(local);
    if (named !== undefined) return kindOf(base, named);
    add(base, local);
    return { struct: `${base}.${local}` };
  };
  for (const [owner, names] of Object.entries(SHOWN)) for (const name of names) add(owner, name);
  return found;
}

/** The group of definitions has a server of its own, and its schemas a file of their own. */
const EXTENSIONS = 'apiextensions-apiserver/pkg/apis/apiextensions';

function readTypes(sources, name) {
  const files =
    name === 'apiextensions'
      ? ['types.go', 'types_jsonschema.go'].map((file) => [
          path.join(EXTENSIONS, file),
          path.join(EXTENSIONS, 'v1', file),
        ])
      : [[path.join('kubernetes/pkg/apis', name, 'types.go'), path.join('api', name, 'v1', 'types.go')]];
  const [internal, versioned] = [0, 1].map((side) =>
    structsIn(files.map((pair) => path.join(sources, pair[side]))),
  );
  return { internal: internal.structs, named: internal.named, versioned: versioned.structs };
}

function structsIn(files) {
  const text = files
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
    .replace(/\/\/.*$/gm, '');
  const structs = new Map();
  const named = new Map();
  for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm))
    structs.set(name, body.split('\n').flatMap(fieldIn));
  for (const [, name] of text.matchAll(/^type (\w+) struct ?\{\}/gm)) structs.set(name, []);
  for (const [, name, type] of text.matchAll(/^type (\w+) (?!struct|interface|func)=?\s*(\S+)/gm))
    named.set(name, type);
  return { structs, named };
}

function fieldIn(line) {
  const [, names, type, tags = ''] =
    /^\s*((?:\w+, )*\w+)\s+([\w.*[\]]+)(?:\s+`([^`]*)`)?\s*$/.exec(line) ?? [];
  const json = /json:"([^",]*)/.exec(tags)?.[1];
  if (names) return names.split(', ').map((go) => ({ go, json, type }));
  const embedded = /^\s*\*?([\w.]+)\s*(?:`[^`]*`)?\s*$/.exec(line);
  return embedded ? [{ go: '', type: embedded[1] }] : [];
}

function lowerFirst(text) {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
