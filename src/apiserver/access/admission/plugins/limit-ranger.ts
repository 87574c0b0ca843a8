import {
  canonicalQuantity,
  greaterAmounts,
  nanosOf,
  objectOfKind,
  sumOfCommon,
} from '@rollkeeper/machinery/kubernetes';
import type {
  Container,
  LimitRange as ILimitRange,
  LimitRangeItem,
} from '@rollkeeper/machinery/types/core-v1';
import type {
  Amounts,
  Decoded,
  DecodedObject,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';
import { containersOf } from '../attributes.js';

export type LimitRange = DecodedObject<ILimitRange>;

const ANNOTATION = 'kubernetes.io/limit-ranger';

/** Gives containers the namespace's default requests and limits, and notes it on the pod. */
export function applyLimitDefaults(pod: DecodedObject<Pod>, ranges: readonly Readonly<LimitRange>[]): void {
  for (const { spec } of ranges) {
    const items = (spec?.limits ?? []).filter(({ type }) => type === 'Container');
    const requests = items.reduce<Amounts>((all, { defaultRequest }) => ({ ...all, ...defaultRequest }), {});
    const limits = items.reduce<Amounts>((all, item) => ({ ...all, ...item.default }), {});
    const { containers, initContainers } = containersOf(pod.spec);
    const notes = [
      ...containers.flatMap((one) => complete(one, 'container', requests, limits)),
      ...initContainers.flatMap((one) => complete(one, 'init container', requests, limits)),
    ];
    if (notes.length > 0)
      pod.metadata.annotations = {
        ...pod.metadata.annotations,
        [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
      };
  }
}

function complete(container: Decoded<Container>, word: string, requests: Amounts, limits: Amounts): string[] {
  const own = container.resources ?? {};
  const missing = (wanted: Amounts, given: Amounts = {}): string[] =>
    Object.keys(wanted)
      .filter((name) => given[name] === undefined)
      .sort();
  const missingRequests = missing(requests, own.requests);
  const missingLimits = missing(limits, own.limits);
  if (missingRequests.length + missingLimits.length === 0) return [];
  container.resources = {
    ...own,
    ...(missingLimits.length > 0 && { limits: { ...limits, ...own.limits } }),
    ...(missingRequests.length > 0 && { requests: { ...requests, ...own.requests } }),
  };
  const note = (names: readonly string[], what: string): string[] =>
    names.length > 0 ? [`${names.join(', ')} ${what} for ${word} ${container.name}`] : [];
  return [...note(missingRequests, 'request'), ...note(missingLimits, 'limit')];
}

/** A pod's violations of its namespace's limits, in the words of kube-apiserver's LimitRanger. */
export function breachesOfPod(
  pod: Readonly<DecodedObject<Pod>>,
  ranges: readonly Readonly<LimitRange>[],
): string[] {
  const { spec: podSpec = {} } = pod;
  const { containers, initContainers } = containersOf(podSpec);
  const breaches = ranges.flatMap(({ spec }) =>
    (spec?.limits ?? []).flatMap((item) => {
      if (item.type === 'Container')
        return [...containers, ...initContainers].flatMap(({ resources = {} }) =>
          breachesOf(item, resources.requests, resources.limits),
        );
      return item.type === 'Pod'
        ? breachesOf(item, totalOf(podSpec, 'requests'), totalOf(podSpec, 'limits'))
        : [];
    }),
  );
  return [...new Set(breaches)];
}

/** The same for a claim, which only has requests. */
export function breachesOfClaim(
  claim: Readonly<UnstructuredObject>,
  ranges: readonly Readonly<LimitRange>[],
): string[] {
  const requests = objectOfKind<DecodedObject<PersistentVolumeClaim>>(claim).spec?.resources?.requests ?? {};
  const items = ranges.flatMap(({ spec }) => spec?.limits ?? []);
  return items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...each(item.min, (name, bound) => belowLeast(item, name, bound, requests, {})),
      ...each(item.max, (name, bound) => aboveMost(item, name, bound, requests)),
    ]);
}

/** The sum over all containers; init containers run before them, one after another. */
function totalOf(
  { containers = [], initContainers = [] }: Decoded<PodSpec>,
  part: 'requests' | 'limits',
): Amounts {
  const of = ({ resources }: Decoded<Container>): Amounts => resources?.[part] ?? {};
  const together = sumOfCommon(containers.map(of));
  return initContainers.map(of).reduce(greaterAmounts, together);
}

function breachesOf(item: Decoded<LimitRangeItem>, requests: Amounts = {}, limits: Amounts = {}): string[] {
  return [
    ...each(item.min, (name, bound) => belowLeast(item, name, bound, requests, limits)),
    ...each(item.max, (name, bound) => aboveLimit(item, name, bound, requests, limits)),
    ...each(item.maxLimitRequestRatio, (name, bound) => aboveRatio(item, name, bound, requests, limits)),
  ];
}

function each(
  bounds: Amounts | undefined,
  check: (name: string, bound: string | number) => string | undefined,
): string[] {
  return Object.entries(bounds ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, bound]) => check(name, bound) ?? []);
}

function belowLeast(
  { type }: Decoded<LimitRangeItem>,
  name: string,
  bound: string | number,
  { [name]: request }: Amounts,
  { [name]: limit }: Amounts,
): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${shown(bound)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  if (nanosOf(request) < nanosOf(bound)) return `${rule}, but request is ${shown(request)}`;
  if (limit !== undefined && nanosOf(limit) < nanosOf(bound)) return `${rule}, but limit is ${shown(limit)}`;
  return undefined;
}

function aboveLimit(
  { type }: Decoded<LimitRangeItem>,
  name: string,
  bound: string | number,
  { [name]: request }: Amounts,
  { [name]: limit }: Amounts,
): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${shown(bound)}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (nanosOf(limit) > nanosOf(bound)) return `${rule}, but limit is ${shown(limit)}`;
  if (request !== undefined && nanosOf(request) > nanosOf(bound))
    return `${rule}, but request is ${shown(request)}`;
  return undefined;
}

function aboveMost(
  { type }: Decoded<LimitRangeItem>,
  name: string,
  bound: string | number,
  { [name]: request }: Amounts,
): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${shown(bound)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  return nanosOf(request) > nanosOf(bound) ? `${rule}, but request is ${shown(request)}` : undefined;
}

function aboveRatio(
  { type }: Decoded<LimitRangeItem>,
  name: string,
  bound: string | number,
  { [name]: request }: Amounts,
  { [name]: limit }: Amounts,
): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${shown(bound)}`;
  if (nanosOf(request) === 0n) return `${rule}, but no request is specified or request is 0`;
  if (nanosOf(limit) === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(nanosOf(limit)) / Number(nanosOf(request));
  if (ratio <= Number(nanosOf(bound)) / 1e9) return undefined;
  return `${rule}, but provided ratio is ${ratio.toFixed(6)}`;
}

function shown(amount: string | number): string {
  return canonicalQuantity(String(amount)) ?? String(amount);
}
