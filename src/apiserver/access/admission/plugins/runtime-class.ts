import type { RuntimeClass as IRuntimeClass } from '@rollkeeper/machinery/types/node-v1';
import type { Amounts, Decoded, DecodedObject, Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { nanosOf, objectOfKind, sameJson, toDouble } from '@rollkeeper/machinery/kubernetes';
import { refused } from '../attributes.js';
import type { WriteAttributes } from '../attributes.js';
import type { FollowedObjects } from '../../../storage/index.js';

export type RuntimeClass = DecodedObject<IRuntimeClass>;

type Toleration = Decoded<NonNullable<PodSpec['tolerations']>[number]>;

const OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const OWN_OVERHEAD = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

/**
 * Gives a new pod what its runtime class takes beside the containers, and the nodes that have the runtime. Source: the plug-in
 * RuntimeClass.
 * @throws StatusError 403
 */
export async function admitRuntimeClass(
  attributes: WriteAttributes,
  classes: FollowedObjects<RuntimeClass>,
): Promise<void> {
  const pod: DecodedObject<Pod> = objectOfKind(attributes.object);
  const spec = (pod.spec ??= {});
  const found = await classOf(attributes, spec, classes);
  const { overhead, scheduling } = found ?? {};
  if (overhead) {
    if (spec.overhead && !isSameOverhead(overhead.podFixed, spec.overhead))
      throw refused(attributes, OTHER_OVERHEAD);
    if (overhead.podFixed) spec.overhead = { ...overhead.podFixed };
  }
  if (!scheduling) return;
  const { nodeSelector: own = {} } = spec;
  const wanted = scheduling.nodeSelector ?? {};
  for (const [key, value] of Object.entries(wanted))
    if (own[key] !== undefined && own[key] !== value)
      throw refused(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`,
      );
  const nodeSelector = { ...own, ...wanted };
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = nodeSelector;
  const tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? []);
  if (tolerations.length > 0) spec.tolerations = tolerations;
}

/**
 * A pod asks for no other overhead than that of its class, also after webhooks have changed it.
 * @throws StatusError 403
 */
export async function checkOverhead(
  attributes: WriteAttributes,
  classes: FollowedObjects<RuntimeClass>,
): Promise<void> {
  const { spec = {} } = objectOfKind<DecodedObject<Pod>>(attributes.object);
  const found = await classOf(attributes, spec, classes);
  if (!found?.overhead) {
    if (spec.overhead) throw refused(attributes, OWN_OVERHEAD);
    return;
  }
  if (!isSameOverhead(found.overhead.podFixed, spec.overhead)) throw refused(attributes, OTHER_OVERHEAD);
}

async function classOf(
  attributes: WriteAttributes,
  { runtimeClassName: name }: Decoded<PodSpec>,
  classes: FollowedObjects<RuntimeClass>,
): Promise<Readonly<RuntimeClass> | undefined> {
  if (name === undefined) return undefined;
  const found = classes.get('', name) ?? (await classes.lookUp('', name));
  if (!found) throw refused(attributes, `pod rejected: RuntimeClass "${name}" not found`);
  return found;
}

/** Equal as quantities: `1000m` is `1`. */
function isSameOverhead(a: Readonly<Amounts> = {}, b: Readonly<Amounts> = {}): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every(
    (name) => a[name] !== undefined && b[name] !== undefined && nanosOf(a[name]) === nanosOf(b[name]),
  );
}

/** Limit of tolerations of one key that are compared with each other. If there are more, all are kept. */
const MOST_OF_A_KEY = 200;

/** The pod's first; one that another of them includes is left out. Source: MergeTolerations in k/k pkg/util/tolerations. */
function mergeTolerations(own: readonly Toleration[], added: readonly Toleration[]): Toleration[] {
  const all = [...own, ...added];
  // One includes another only if it has the same key, or none.
  const places = Map.groupBy(all.keys(), (index) => all[index]!.key ?? '');
  const gone = new Set<number>();
  for (const [index, toleration] of all.entries()) {
    const { key = '' } = toleration;
    const ofKey = places.get(key) ?? [];
    const ofAny = key === '' ? [] : (places.get('') ?? []);
    if (ofKey.length + ofAny.length > MOST_OF_A_KEY) continue;
    const candidates = [...ofKey, ...ofAny];
    const isIncluded = (other: number): boolean =>
      other !== index && !gone.has(other) && includes(all[other]!, toleration);
    if (candidates.some(isIncluded)) gone.add(index);
  }
  return all.filter((_toleration, index) => !gone.has(index));
}

/** Whether what the second tolerates, the first does as well, and as long. */
function includes(whole: Toleration, part: Toleration): boolean {
  if (sameJson(whole, part)) return true;
  const isAnyKey = !whole.key && whole.operator === 'Exists';
  if (whole.key !== part.key && !isAnyKey) return false;
  if (whole.effect && whole.effect !== part.effect) return false;
  const isForGood = whole.effect !== 'NoExecute' || whole.tolerationSeconds === undefined;
  if (!isForGood && toDouble(part.tolerationSeconds ?? Infinity) > toDouble(whole.tolerationSeconds ?? 0))
    return false;
  if (whole.operator === 'Exists') return true;
  return isEqual(whole) && isEqual(part) && (whole.value ?? '') === (part.value ?? '');
}

function isEqual({ operator = 'Equal' }: Toleration): boolean {
  return operator === 'Equal';
}
