import { createHash, createHmac } from 'node:crypto';
import type { InformerSource, Kind, PartialKind, ResourceEvent, WatchedKind } from '@rollkeeper/runtime';
import { ConfigMap, NAMESPACE_INDEX, Secret, partOf, watch } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { setField } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../../kubernetes/annotations.js';
import {
  RELOADER_IGNORE,
  RELOADER_MATCH,
  parseRestartOn,
  readReloader,
  splitAdmission,
} from './config-selection.js';
import type { SourceKind, SourceName } from '../../../shared/index.js';
import { BOOTSTRAP_TOKEN, SERVICE_ACCOUNT_TOKEN, parseSource, sourceName } from '../../../shared/index.js';
import { configReferences } from './config-sources.js';
import { annotationOf } from '../common/names.js';

/** A digest of the content of a ConfigMap or Secret: nothing from which it could be read or guessed. */
export interface ContentDigest {
  readonly digest: string;
  /** A digest for each key, to find the keys that have changed. */
  readonly keys: Readonly<Record<string, string>>;
}

/** A ConfigMap or Secret as it is cached: whose it is, the digests of its content, and Reloader's marks. */
export interface DigestedObject extends KubernetesObject {
  readonly content: ContentDigest;
  /** A Secret that another controller fills with a token. */
  readonly isToken?: true;
}

/** The contents that the caches know. */
export interface ConfigContents {
  /** Undefined where it is missing, or `availability` is not `known`. */
  find(namespace: string, source: SourceName): DeepReadonly<DigestedObject> | undefined;
  /** `starting`: the first lists are under way. `refused`: the server does not give them. */
  readonly availability: 'known' | 'starting' | 'refused';
  /** Whether the controller may make copies of them. */
  readonly mayCopy: boolean;
}

/** `off`: the replica does not watch them. */
export type Configuration = ConfigContents | 'off';

/** Name of the index that finds Deployments by each source that they refer to or name. */
const CONFIG_INDEX = 'config-sources';
const DIGEST_CHARS = 16;
const KEY_DIGEST_CHARS = 8;

const TOKEN_TYPES: ReadonlySet<string> = new Set([SERVICE_ACCOUNT_TOKEN, BOOTSTRAP_TOKEN]);

interface WithContent extends KubernetesObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

const CONFIG_MAP_DIGESTS = partOf(ConfigMap, 'content-digests', (object) => digested(object, ''));

/**
 * The UID goes into the digest of each value. Only users who may read the Secret know it, so a user who reads a digest in a
 * Deployment's annotation cannot find the value by trying. It also means that a recreated Secret counts as changed.
 */
const SECRET_DIGESTS = partOf(Secret, 'content-digests', (object) =>
  digested(object, object.metadata.uid ?? ''),
);

const DIGESTS: Readonly<Record<SourceKind, PartialKind<DigestedObject>>> = {
  configmap: CONFIG_MAP_DIGESTS,
  secret: SECRET_DIGESTS,
};

/** If they may not be listed, Deployments are looked after without them, and say so. */
export function configContents(
  informers: Pick<InformerSource, 'partialInformerFor'>,
  mayCopy = false,
): ConfigContents {
  const informerOf = (kind: SourceKind) =>
    informers.partialInformerFor<DigestedObject>(DIGESTS[kind], { optional: true });
  const caches = { configmap: informerOf('configmap'), secret: informerOf('secret') };
  const all = Object.values(caches);
  return {
    mayCopy,
    find: (namespace, source) => {
      const { kind, name } = parseSource(source);
      return caches[kind].lister.get(`${namespace}/${name}`);
    },
    get availability() {
      if (all.every(({ hasSynced }) => hasSynced)) return 'known';
      return all.some(({ hasSynced, trouble }) => !hasSynced && trouble) ? 'refused' : 'starting';
    },
  };
}

/** A change of content brings the Deployments back that refer to it, or name it, and no others. */
export function watchConfiguration(
  kind: Kind<Deployment>,
  defaultsOf: (namespace: string) => Annotations | undefined,
): readonly WatchedKind[] {
  return (['configmap', 'secret'] as const).map((sourceKind) => ({
    ...watch<DigestedObject>(
      DIGESTS[sourceKind],
      ({ metadata }, listerOf) => {
        const { name, namespace = '' } = metadata;
        const source = sourceName(sourceKind, name);
        const deployments = listerOf(kind);
        const isDefault = namedIn(defaultsOf(namespace)).has(source);
        const found = isDefault
          ? deployments.byIndex(NAMESPACE_INDEX, namespace)
          : deployments.byIndex(CONFIG_INDEX, `${namespace}/${source}`);
        return found.map((deployment) => deployment.metadata);
      },
      hasChanged,
    ),
    optional: true,
    urgency: { onlyIfNeeded: true },
  }));
}

/** Files a Deployment under what its pods read and what its annotations name. */
export const CONFIG_SOURCES = {
  name: CONFIG_INDEX,
  valuesOf: ({ metadata, spec }: DeepReadonly<Deployment>): readonly string[] => {
    const { annotations, namespace = '' } = metadata;
    const sources = new Set([...configReferences(spec.template).keys(), ...namedIn(annotations)]);
    return [...sources].map((source) => `${namespace}/${source}`);
  },
};

function namedIn(annotations: Annotations | undefined): ReadonlySet<SourceName> {
  if (!annotations) return new Set();
  const own = parseRestartOn(splitAdmission(annotations[annotationOf('restart-on')] ?? '').rest);
  const { selection } = readReloader(annotations);
  return new Set([...(typeof own === 'string' ? [] : own.named), ...(selection?.named ?? [])]);
}

function hasChanged(event: ResourceEvent<DigestedObject>): boolean {
  if (event.type !== 'modified') return true;
  const { object, old } = event;
  return (
    old.content.digest !== object.content.digest ||
    isMarked(old) !== isMarked(object) ||
    isIgnored(old) !== isIgnored(object)
  );
}

export function isMarked({ metadata }: DeepReadonly<DigestedObject>): boolean {
  return metadata.annotations?.[RELOADER_MATCH] === 'true';
}

export function isIgnored({ metadata }: DeepReadonly<DigestedObject>): boolean {
  return metadata.annotations?.[RELOADER_IGNORE] === 'true';
}

function digested(object: WithContent, salt: string): DigestedObject {
  const { apiVersion, kind, metadata } = object;
  const { annotations = {}, name, namespace, resourceVersion, uid } = metadata;
  const marks = [RELOADER_MATCH, RELOADER_IGNORE].flatMap((mark) =>
    annotations[mark] === undefined ? [] : [[mark, annotations[mark]] as const],
  );
  const kept = marks.length > 0 ? { annotations: Object.fromEntries(marks) } : {};
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, ...kept },
    content: digestOf(object, salt),
    ...(TOKEN_TYPES.has(object.type ?? '') && { isToken: true }),
  };
}

/** The digest of a whole object, as the caches have it. */
export function digestOfSource(kind: SourceKind, object: WithContent): string {
  return digestOf(object, kind === 'secret' ? (object.metadata.uid ?? '') : '').digest;
}

/** Independent of the order of keys. The key goes into the digest of its value, so that equal values do not show. */
function digestOf({ binaryData = {}, data = {} }: WithContent, salt: string): ContentDigest {
  const whole = createHash('sha256');
  const keys: Record<string, string> = {};
  const entries = [
    ...Object.entries(data).map(([key, value]) => [key, 'text', value] as const),
    ...Object.entries(binaryData).map(([key, value]) => [key, 'binary', value] as const),
  ];
  for (const [key, form, value] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const digest = createHmac('sha256', salt).update(`${form}\n${key}\n${value}`).digest('hex');
    whole.update(`${key}\n${digest}\n`);
    setField(keys, key, digest.slice(0, KEY_DIGEST_CHARS));
  }
  return { digest: whole.digest('hex').slice(0, DIGEST_CHARS), keys };
}
