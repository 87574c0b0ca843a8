/**
 * In Go an optional struct is a pointer, so that `securityContext: {}` is another value than none, and Kubernetes takes it for another
 * template. Maps and plain structs are the same, empty or absent.
 */

/** Fields of a pod template that hold a map, or a struct that is always there. */
const EMPTY_AS_ABSENT: ReadonlySet<string> = new Set([
  'annotations',
  'labels',
  'limits',
  'matchLabels',
  'metadata',
  'nodeSelector',
  'options',
  'overhead',
  'podAffinityTerm',
  'preference',
  'requests',
  'resources',
  'spec',
  'volumeAttributes',
]);

/** Of a container `resources` is always there; of a pod it is optional. */
const RESOURCES_OF_POD = 'spec.resources';

/** What a server fills into every pod template: it tells none from another. */
const ALWAYS_FILLED_IN = 'spec.securityContext';

/** Whether two templates that mean the same have the same optional structs. */
export function sameStructs(a: unknown, b: unknown, path = ''): boolean {
  if (a === b) return true;
  if (!isFields(a) || !isFields(b)) return !(isStruct(a, path) || isStruct(b, path));
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => sameStructs(a[name], b[name], join(path, name)));
}

/** The value with a mark in place of each optional struct that is empty, for a hash that leaves out what is empty. */
export function markedStructs(value: unknown, path = ''): unknown {
  if (!isFields(value)) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => markedStructs(item, join(path, '')));
  const entries = Object.entries(value);
  if (entries.length === 0) return isStruct(value, path) && path !== ALWAYS_FILLED_IN ? '{}' : value;
  return Object.fromEntries(entries.map(([name, field]) => [name, markedStructs(field, join(path, name))]));
}

/** Whether the value, where another has none, makes a difference; a list never does, which is empty then. */
function isStruct(value: unknown, path: string): boolean {
  if (!isFields(value) || Array.isArray(value)) return false;
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (path === RESOURCES_OF_POD || !EMPTY_AS_ABSENT.has(name)) return path !== '';
  return Object.entries(value).some(([field, inner]) => isStruct(inner, join(path, field)));
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
