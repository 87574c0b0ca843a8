import type { DeepReadonly, KubernetesObject } from '../kubernetes/index.js';
import { sameJson } from '../kubernetes/index.js';
import { TRACE_ANNOTATION } from '../trace-context/index.js';

/** Changes with every write and says nothing. */
const NOISE: ReadonlySet<string> = new Set(['metadata.resourceVersion', 'metadata.managedFields']);

/** The parts of an object, two levels deep, that are not the same: `spec.replicas`, `status.conditions`. */
export function differingParts(
  old: DeepReadonly<KubernetesObject>,
  object: DeepReadonly<KubernetesObject>,
): string[] {
  const found: string[] = [];
  for (const section of namesOf(old, object)) {
    const [before, after] = [valueOf(old, section), valueOf(object, section)];
    if (isObject(before) && isObject(after)) noteFields(section, before, after, found);
    else if (!sameJson(before, after)) found.push(section);
  }
  return found;
}

function noteFields(section: string, before: object, after: object, found: string[]): void {
  for (const name of namesOf(before, after)) {
    const part = `${section}.${name}`;
    if (NOISE.has(part)) continue;
    const isSame = part === 'metadata.annotations' ? sameButForTrace : sameJson;
    if (!isSame(valueOf(before, name), valueOf(after, name))) found.push(part);
  }
}

/** Every traced write changes its annotation, which says nothing either. */
function sameButForTrace(before: unknown, after: unknown): boolean {
  const [a, b] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  return namesOf(a, b).every((name) => name === TRACE_ANNOTATION || a[name] === b[name]);
}

function namesOf(a: object, b: object): string[] {
  const names = Object.keys(a);
  for (const name of Object.keys(b)) if (!Object.hasOwn(a, name)) names.push(name);
  return names;
}

function valueOf(object: object, name: string): unknown {
  return (object as Record<string, unknown>)[name];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
