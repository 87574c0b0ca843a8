import {
  CONNECTIONS,
  DELETE,
  GET_CUSTOM,
  LIST,
  LOG,
  NAMESPACE,
  PATCH,
  PATH,
  PRETTY,
  WRITE,
} from './parameters.js';
import type { Parameter } from './parameters.js';

/** A parameter in a document of version 2. Its fields are in the order in which a genuine server hashes them. */
export type ParameterV2 =
  | {
      readonly uniqueItems: true;
      readonly type: Parameter['type'];
      readonly description: string;
      readonly name: string;
      readonly in: Parameter['in'];
      readonly required?: true;
    }
  | {
      readonly name: 'body';
      readonly in: 'body';
      readonly required?: true;
      readonly schema: { readonly $ref: string };
    };

/** Old clients look for them where they are used, to find out what a server can do. */
const UNSHARED: ReadonlySet<string> = new Set(['name', 'dryRun', 'fieldValidation']);
/** Bodies that are the same for many kinds. */
const SHARED_BODIES: readonly ParameterV2[] = [
  bodyParameter({ schema: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', isRequired: false }),
  bodyParameter({ schema: 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch', isRequired: true }),
];

export function parameterV2({ description, in: place, name, type }: Parameter): ParameterV2 {
  const isRequired = place === 'path';
  return { uniqueItems: true, type, description, name, in: place, ...(isRequired && { required: true }) };
}

export function bodyParameter(of: { readonly schema: string; readonly isRequired: boolean }): ParameterV2 {
  const schema = { $ref: `#/definitions/${of.schema}` };
  return { name: 'body', in: 'body', ...(of.isRequired && { required: true }), schema };
}

let byText: ReadonlyMap<string, string> | undefined;
let all: Readonly<Record<string, ParameterV2>> | undefined;

/** The parameters that operations refer to, by the names that a genuine server gives them. */
export function sharedParameters(): Readonly<Record<string, ParameterV2>> {
  all ??= Object.fromEntries(
    [
      ...[NAMESPACE, PATH, PRETTY, ...LIST, ...DELETE, ...WRITE, ...PATCH, ...GET_CUSTOM, ...LOG],
      ...Object.values(CONNECTIONS).flat(),
    ]
      .filter(({ name }) => !UNSHARED.has(name))
      .map(parameterV2)
      .concat(SHARED_BODIES)
      .map((parameter) => [sharedName(parameter), parameter] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
  return all;
}

/** The parameter, or a reference to it if it is shared. */
export function shownParameter(parameter: ParameterV2): ParameterV2 | { readonly $ref: string } {
  byText ??= new Map(Object.entries(sharedParameters()).map(([name, one]) => [JSON.stringify(one), name]));
  const name = byText.get(JSON.stringify(parameter));
  return name === undefined ? parameter : { $ref: `#/parameters/${name}` };
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const HASH_BYTES = 6;

/**
 * The name and a hash of the whole. The hash distinguishes parameters of one name. Source: kube-openapi's
 * pkg/builder/parameters.go.
 */
function sharedName(parameter: ParameterV2): string {
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(goJson(parameter))) {
    hash = BigInt.asUintN(64, hash * FNV_PRIME) ^ BigInt(byte);
  }
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(hash);
  return `${parameter.name}-${bytes.subarray(0, HASH_BYTES).toString('base64url')}`;
}

/** Go's encoder escapes what HTML could take for markup. */
function goJson(value: object): string {
  return JSON.stringify(value).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}
