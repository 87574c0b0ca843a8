import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The names of Go's own types. */
const BASIC = /^(?:string|bool|byte|float(?:32|64)|u?int(?:8|16|32|64)?)$/;
/** Structs that are no JSON objects, with what is written of an empty one. */
const SCALARS = {
  'metav1.Time': null,
  'metav1.MicroTime': null,
  'resource.Quantity': '0',
  'intstr.IntOrString': 0,
  'runtime.RawExtension': null,
};

/** The Go types of the packages of the API. */
export class GoPackages {
  packages = new Map();

  constructor(sources) {
    this.sources = sources;
  }

  /** Facts about those of its structs that the package's schemas have. */
  factsOf(packageName, schemas) {
    const folder = folderOf(packageName);
    const read = this.read(folder);
    if (!read) return {};
    const facts = {};
    for (const name of Object.keys(schemas)) {
      const found = read.types.get(name)?.fields ? this.structFacts(read, name, schemas[name]) : {};
      if (Object.keys(found).length > 0) facts[name] = found;
    }
    return facts;
  }

  structFacts(read, name, schema) {
    const facts = { types: {}, inside: {}, always: {} };
    for (const { json, omits, type, from, inside } of this.fieldsOf(read, name)) {
      if (!schema.properties?.[json]) continue;
      const named = this.namedType(from, type);
      if (named) facts.types[json] = named;
      if (inside.length > 0) facts.inside[json] = inside.join('.');
      const empty = this.emptyOf(from, type, omits);
      if (empty !== undefined) facts.always[json] = empty;
    }
    return Object.fromEntries(Object.entries(facts).filter(([, entries]) => Object.keys(entries).length > 0));
  }

  /** With those of embedded structs. */
  fieldsOf(read, name, inside = []) {
    return read.types.get(name).fields.flatMap((field) => {
      if (!field.isEmbedded) return [{ ...field, from: read, inside }];
      const { owner, local } = this.resolve(read, field.type);
      if (!owner?.types.get(local)?.fields || local === 'TypeMeta') return [];
      return this.fieldsOf(owner, local, [...inside, local]);
    });
  }

  /** `v1.RestartPolicy`, `[]v1.OperationType`, `map[string]v1.ExtraValue`: undefined for what the schema knows as well. */
  namedType(read, type) {
    const plain = type.replace(/^\*/, '');
    if (plain.startsWith('[]')) {
      const item = this.namedType(read, plain.slice(2));
      return item && `[]${item}`;
    }
    const [, key, value] = /^map\[([\w.]+)\](.+)$/.exec(plain) ?? [];
    if (value !== undefined) {
      const named = this.namedType(read, key);
      const item = this.namedType(read, value) ?? (named && this.structType(read, value));
      return item && `map[${named ?? key}]${item}`;
    }
    if (BASIC.test(plain)) return undefined;
    const { owner, local } = this.resolve(read, plain);
    const found = owner?.types.get(local);
    return found && !found.fields ? `${owner.name}.${local}` : undefined;
  }

  structType(read, type) {
    const { owner, local } = this.resolve(read, type);
    return owner?.types.get(local)?.fields && `${owner.name}.${local}`;
  }

  emptyOf(read, type, omits) {
    if (type.startsWith('*') || type.startsWith('[]') || type.startsWith('map[') || type === 'interface{}')
      return omits.size > 0 ? undefined : null;
    if (BASIC.test(type)) return omits.size > 0 ? undefined : emptyBasic(type);
    const { owner, local } = this.resolve(read, type);
    const scalar = SCALARS[`${aliasOf(owner)}.${local}`];
    if (scalar !== undefined) return omits.has('omitzero') ? undefined : scalar;
    const found = owner?.types.get(local);
    if (!found) return undefined;
    if (found.fields) return omits.has('omitzero') ? undefined : {};
    return this.emptyOf(owner, found.type, omits);
  }

  resolve(read, type) {
    const [first, second] = type.replace(/^\*/, '').split('.');
    if (second === undefined) return { owner: read, local: first };
    const imported = read.imports.get(first);
    return { owner: imported && this.read(imported), local: second };
  }

  read(folder) {
    if (!this.packages.has(folder)) this.packages.set(folder, readPackage(this.sources, folder));
    return this.packages.get(folder);
  }
}

function emptyBasic(type) {
  if (type === 'string') return '';
  return type === 'bool' ? false : 0;
}

function aliasOf(owner) {
  return owner?.folder === 'apimachinery/pkg/apis/meta/v1' ? 'metav1' : owner?.name;
}

/** `io.k8s.api.core.v1` → `api/core/v1` */
function folderOf(packageName) {
  return packageName.replace(/^io\.k8s\./, '').replaceAll('.', '/');
}

function readPackage(sources, folder) {
  const full = path.join(sources, folder);
  const read = { folder, name: path.basename(folder), types: new Map(), imports: new Map() };
  if (!existsSync(full)) return read;
  for (const file of readdirSync(full)) if (file.endsWith('.go')) readFile(path.join(full, file), read);
  return read;
}

function readFile(file, read) {
  const text = readFileSync(file, 'utf8').replace(/^\s*\/\/.*$/gm, '');
  for (const [, alias, imported] of text.matchAll(/^(?:import)?\s+(\w+)?\s*"k8s\.io\/([^"]+)"/gm))
    read.imports.set(alias ?? path.basename(imported), imported);
  for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm))
    read.types.set(name, { fields: body.split('\n').flatMap(readField) });
  for (const [, name, type] of text.matchAll(/^type (\w+) (?!struct|interface|func)=?\s*(\S+)/gm))
    read.types.set(name, { type });
}

function readField(line) {
  const named = /^\s*(\w+)\s+(\S+)\s+`[^`]*?json:"([^"]*)"/.exec(line);
  if (named) {
    const [, , type, tag] = named;
    const [json, ...omits] = tag.split(',');
    return json === '-' || json === '' ? [] : [{ json, type, omits: new Set(omits) }];
  }
  const tagged = /^\s*([\w.]+)\s+`[^`]*?json:"(\w+)((?:,\w+)*)"/.exec(line);
  if (tagged) return [{ json: tagged[2], type: tagged[1], omits: new Set(tagged[3].split(',').slice(1)) }];
  const embedded = /^\s*\*?([\w.]+)\s*(?:`[^`]*?json:",inline"|$)/.exec(line);
  return embedded ? [{ type: embedded[1], isEmbedded: true }] : [];
}
