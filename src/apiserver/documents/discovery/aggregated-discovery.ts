import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import { byName, groupsOf, isBuiltInGroup, sameItems } from './group-versions.js';
import { acceptClauses, tagged } from '../../http/index.js';
import type { RawResponse } from '../../http/index.js';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { AnsweredType } from './group-versions.js';
import type { SubresourceFacts } from './verbs.js';
import { subresourceFacts, verbsOf } from './verbs.js';

type Version = 'v2' | 'v2beta1';

/** `core`: below `/api`. `groups`: below `/apis`. */
type Part = 'core' | 'groups';

interface Made {
  /** As long as these are the same, so is the answer. */
  readonly kinds: readonly KindDefinition[];
  readonly stale: readonly StaleVersion[];
  readonly answer: RawResponse;
}

/**
 * Everything that is below `/api` or `/apis` in one answer. Every start of a client asks for it, so an answer is only made again
 * when the kinds, or the groups of other servers, have changed.
 */
export class AggregatedDiscovery {
  private readonly made = new Map<string, Made>();

  constructor(private readonly registry: KindRegistry) {}

  /**
   * @param accept the header of the request
   * @param stale group versions of servers that cannot be reached
   * @returns the answer with its ETag; undefined if the client wants the plain form
   */
  answer(
    accept: string | undefined,
    part: Part,
    stale: readonly StaleVersion[] = [],
  ): RawResponse | undefined {
    const version = aggregatedVersion(accept);
    if (!version) return undefined;
    const { kinds } = this.registry;
    const before = this.made.get(`${part} ${version}`);
    if (before && sameItems(before.kinds, kinds) && sameItems(before.stale, stale)) return before.answer;
    const text = stringifyJson(aggregatedDiscovery(this.registry, part, version, stale));
    const answer = tagged(
      text,
      `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    );
    this.made.set(`${part} ${version}`, { kinds, stale, answer });
    return answer;
  }
}

/** @returns the version of the aggregated form, if the client wants it rather than the plain one */
function aggregatedVersion(accept = ''): Version | undefined {
  for (const { parameters, type } of acceptClauses(accept)) {
    if (type !== 'application/json') continue;
    const version = parameters.get('v');
    const isGrouped =
      parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('as') === 'APIGroupDiscoveryList';
    if (isGrouped && (version === 'v2' || version === 'v2beta1')) return version;
    if (!parameters.has('as') && !parameters.has('g') && version === undefined) return undefined;
  }
  return undefined;
}

function aggregatedDiscovery(
  kinds: KindRegistry,
  part: Part,
  version: Version,
  stale: readonly StaleVersion[],
): object {
  const served = groupsOf(kinds)
    .filter(([{ group }]) => (group === '') === (part === 'core'))
    .map((versions) => ({
      metadata: versions[0].group === '' ? {} : { name: versions[0].group },
      versions: versions.map((found) => ({
        version: found.version,
        resources: byName(
          found.group,
          [...found.kinds.map(toResource), ...found.answered.map(answered)],
          ({ resource }) => resource,
        ),
        freshness: 'Current',
      })),
    }));
  const items = part === 'core' ? served : withStale(served, stale);
  return { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items };
}

/** A group version that another server would serve. */
interface StaleVersion {
  readonly group: string;
  readonly version: string;
}

interface DescribedGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly version: string; readonly freshness: string }[];
}

/** The server's own groups are always current. */
function withStale(served: readonly DescribedGroup[], stale: readonly StaleVersion[]): DescribedGroup[] {
  const groups = new Map(served.map((group) => [group.metadata.name ?? '', group]));
  for (const { group, version } of stale) {
    const { metadata, versions } = groups.get(group) ?? { metadata: { name: group }, versions: [] };
    if (versions.some((one) => one.version === version)) continue;
    groups.set(group, { metadata, versions: [...versions, { version, freshness: 'Stale' }] });
  }
  return [...groups.values()];
}

interface Named {
  readonly resource: string;
  readonly [field: string]: unknown;
}

/** A genuine server leaves out group and version of a built-in group's own kinds, which follow from the place. */
function responseKind(own: ResourceType, { group, kind, version }: Omit<SubresourceFacts, 'verbs'>): object {
  const isOwn = isBuiltInGroup(own.group) && group === own.group && version === own.version;
  return isOwn ? { group: '', version: '', kind } : { group, version, kind };
}

function answered(type: AnsweredType): Named {
  const { group, kind, namespaced, resource, shortNames, singular, verbs, version } = type;
  return {
    resource,
    responseKind: responseKind(type, { group, version, kind }),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames && { shortNames }),
  };
}

function toResource(kind: KindDefinition): Named {
  const { type } = kind;
  const subresources = kind.subresources.flatMap((subresource) => {
    const facts = subresourceFacts(kind, subresource);
    if (!facts) return [];
    return [{ subresource, responseKind: responseKind(type, facts), verbs: facts.verbs }];
  });
  return {
    resource: type.resource,
    responseKind: responseKind(type, type),
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    ...(subresources.length > 0 && {
      subresources: byName(type.group, subresources, ({ subresource }) => subresource),
    }),
  };
}
