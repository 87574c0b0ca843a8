import type { Informer } from '@rollkeeper/client/informer';
import type {
  DeepReadonly,
  KubernetesObject,
  PersistentVolumeClaim,
  Pod,
} from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { MissingSources, SourceLookup } from './decide-sources.js';
import { decideMissingSources, lacksSomething } from './decide-sources.js';

/** A ConfigMap or Secret. */
export interface KeyedObject extends KubernetesObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** The caches of what pods read. One that may not be listed counts as complete: what it would show is not missed. */
interface SourceCaches {
  /** Trimmed by {@link keysAlone}. */
  readonly configMaps: Informer<KeyedObject>;
  /** Trimmed by {@link keysAlone}. */
  readonly secrets: Informer<KeyedObject>;
  readonly claims: Informer<PersistentVolumeClaim>;
}

/** Keeps the keys of a ConfigMap or Secret and no value, so that nodes hold no secret content and little memory. */
export function keysAlone({ apiVersion, binaryData, data, kind, metadata }: KeyedObject): KeyedObject {
  const { name, namespace, resourceVersion, uid } = metadata;
  const keys = Object.keys({ ...data, ...binaryData });
  return {
    ...{ apiVersion, kind, metadata: { name, namespace, resourceVersion, uid } },
    data: Object.fromEntries(keys.map((key) => [key, ''])),
  };
}

/** Keeps of a claim whether it is bound. */
export function bindingAlone({ apiVersion, kind, metadata, spec, status }: PersistentVolumeClaim) {
  const { name, namespace, resourceVersion, uid } = metadata;
  return {
    ...{ apiVersion, kind, metadata: { name, namespace, resourceVersion, uid } },
    spec: { volumeName: spec.volumeName },
    status: { phase: status?.phase },
  } as PersistentVolumeClaim;
}

/** Tells which pods lack something that they refer to, and wakes them by its appearance. */
export class PodSources {
  /** Namespaces of pods that lack something, by the pods' keys. */
  private readonly blocked = new Map<string, string>();
  private readonly lookup: SourceLookup;

  constructor(private readonly caches: SourceCaches) {
    const { claims, configMaps, secrets } = caches;
    this.lookup = {
      keysOf: (kind, namespace, name) => {
        const informer: Informer<KeyedObject> = kind === 'configmap' ? configMaps : secrets;
        if (!informer.hasSynced) return EVERY_KEY;
        const found = informer.lister.get(keyOf({ namespace, name }));
        return found && new Set(Object.keys(found.data ?? {}));
      },
      claimState: (namespace, name) => {
        if (!claims.hasSynced) return 'bound';
        const claim = claims.lister.get(keyOf({ namespace, name }));
        if (!claim) return 'missing';
        return claim.status?.phase === 'Bound' ? 'bound' : 'unbound';
      },
    };
  }

  /** The objects that the pod lacks now. It is woken when something in its namespace changes, until it lacks nothing. */
  missingOf(pod: DeepReadonly<Pod>): MissingSources {
    const missing = decideMissingSources(pod, this.lookup);
    const key = keyOf(pod.metadata);
    if (lacksSomething(missing)) this.blocked.set(key, pod.metadata.namespace ?? '');
    else this.blocked.delete(key);
    return missing;
  }

  forget(key: string): void {
    this.blocked.delete(key);
  }

  /** Calls `wake` with the keys of pods that may have got what they lack. Returns the unsubscribe. */
  onChange(wake: (key: string) => void): () => void {
    const { claims, configMaps, secrets } = this.caches;
    const notice = ({ object }: { readonly object: DeepReadonly<KubernetesObject> }): void => {
      for (const [key, namespace] of this.blocked) if (namespace === object.metadata.namespace) wake(key);
    };
    const removals = [
      claims.addEventHandler(notice),
      configMaps.addEventHandler(notice),
      secrets.addEventHandler(notice),
    ];
    return () => removals.forEach((remove) => remove());
  }
}

/** Stands for the keys of objects that may not be listed. */
const EVERY_KEY: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });
