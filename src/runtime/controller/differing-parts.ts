import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ownField, sameJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { TRACE_ANNOTATION } from '@rollkeeper/machinery/trace-context';

/** Changes with every write and carries no information. */
const NOISE: Readonly<Record<string, readonly string[]>> = { metadata: ['resourceVersion', 'managedFields'] };

/**
 * The differing parts of an object, two levels deep: `spec.replicas`, `status.conditions`. Runs for every change on a
 * traced leader, so it allocates nothing.
 */
export function differingParts(
  old: DeepReadonly<KubernetesObject>,
  object: DeepReadonly<KubernetesObject>,
): string[] {
  const found: string[] = [];
  const before = old as unknown as Fields;
  const after = object as unknown as Fields;
  for (const section in before) noteSection(section, before[section], ownField(after, section), found);
  for (const section in after)
    if (!Object.hasOwn(before, section)) noteSection(section, undefined, after[section], found);
  return found;
}

type Fields = Readonly<Record<string, unknown>>;

function noteSection(section: string, before: unknown, after: unknown, found: string[]): void {
  if (before === after) return;
  if (isJsonObject(before) && isJsonObject(after)) noteFields(section, before, after, found);
  else if (!sameJson(before, after)) found.push(section);
}

function noteFields(section: string, before: Fields, after: Fields, found: string[]): void {
  const noise = ownField(NOISE, section);
  const note = (name: string): void => {
    if (noise?.includes(name)) return;
    const isSame = section === 'metadata' && name === 'annotations' ? sameButForTrace : sameJson;
    if (!isSame(ownField(before, name), ownField(after, name))) found.push(`${section}.${name}`);
  };
  for (const name in before) note(name);
  for (const name in after) if (!Object.hasOwn(before, name)) note(name);
}

/** Every traced write changes its annotation, which carries no information either. */
function sameButForTrace(before: unknown, after: unknown): boolean {
  const [a, b] = [isJsonObject(before) ? before : NOTHING, isJsonObject(after) ? after : NOTHING];
  for (const name in a) if (name !== TRACE_ANNOTATION && a[name] !== ownField(b, name)) return false;
  for (const name in b) if (name !== TRACE_ANNOTATION && !Object.hasOwn(a, name)) return false;
  return true;
}

const NOTHING: Fields = {};
