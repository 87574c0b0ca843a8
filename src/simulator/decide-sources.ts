import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { ephemeralClaimName } from '@rollkeeper/machinery/kubernetes';

type ReadablePod = DeepReadonly<Pod>;
type Container = DeepReadonly<coreV1.Container>;
type Volume = NonNullable<ReadablePod['spec']['volumes']>[number];
type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** The objects that pods read, as the nodes know them. */
export interface SourceLookup {
  /** The keys of a ConfigMap or Secret; undefined: it does not exist. */
  keysOf(
    this: void,
    kind: 'configmap' | 'secret',
    namespace: string,
    name: string,
  ): ReadonlySet<string> | undefined;
  claimState(this: void, namespace: string, name: string): 'bound' | 'unbound' | 'missing';
}

/** The missing objects that a pod refers to, in a kubelet's words. */
export interface MissingSources {
  /** The messages of the Events FailedMount; while there are any, no container starts. */
  readonly mounts: readonly string[];
  /** By container, why it cannot be created. */
  readonly configOf: ReadonlyMap<string, string>;
  /** Names of image pull secrets that do not exist. */
  readonly pullSecrets: readonly string[];
  /** None of the named pull secrets exists, so the registry refuses an image that is not on the node. */
  readonly cannotPull: boolean;
}

export function lacksSomething({ configOf, mounts, pullSecrets }: MissingSources): boolean {
  return mounts.length + configOf.size + pullSecrets.length > 0;
}

/** Published in every namespace by a controller of its own, which a simulated cluster may lack. */
const ROOT_CA = 'kube-root-ca.crt';

/**
 * The objects that a kubelet would wait for before it starts the pod or its containers. References that are optional
 * may be missing. Source: k/k pkg/kubelet/kubelet_pods.go, pkg/volume/configmap, secret and projected, and
 * pkg/kubelet/volumemanager.
 */
export function decideMissingSources(pod: ReadablePod, lookup: SourceLookup): MissingSources {
  const { namespace = '' } = pod.metadata;
  const { containers, imagePullSecrets = [], initContainers = [], volumes = [] } = pod.spec;
  const sources = new Sources(namespace, lookup);
  const configOf = new Map<string, string>();
  for (const container of [...initContainers, ...containers]) {
    const problem = configProblem(pod, container, sources);
    if (problem !== undefined) configOf.set(container.name, problem);
  }
  const named = imagePullSecrets.flatMap(({ name }) => name ?? []);
  const pullSecrets = named.filter((name) => sources.keysOf('secret', name) === undefined);
  return {
    mounts: volumes.flatMap((volume) => mountProblem(pod, volume, sources, lookup) ?? []),
    configOf,
    pullSecrets,
    cannotPull: named.length > 0 && pullSecrets.length === named.length,
  };
}

type Kind = 'configmap' | 'secret';

class Sources {
  /** Thousands of variables may read one object, which may have thousands of keys. */
  private readonly known = new Map<string, ReadonlySet<string> | undefined>();

  constructor(
    readonly namespace: string,
    private readonly lookup: SourceLookup,
  ) {}

  keysOf(kind: Kind, name: string): ReadonlySet<string> | undefined {
    const source = `${kind}/${name}`;
    if (!this.known.has(source)) this.known.set(source, this.lookup.keysOf(kind, this.namespace, name));
    return this.known.get(source);
  }

  /** The problem with a whole source, if it is not optional. */
  absent(kind: Kind, name = '', isOptional = false): string | undefined {
    return isOptional || this.keysOf(kind, name) ? undefined : `${kind} "${name}" not found`;
  }
}

/** The first problem: `envFrom` is read before `env`. */
function configProblem(pod: ReadablePod, container: Container, sources: Sources): string | undefined {
  const { env = [], envFrom = [] } = container;
  for (const { configMapRef, secretRef } of envFrom) {
    const problem =
      (configMapRef && sources.absent('configmap', configMapRef.name, configMapRef.optional)) ??
      (secretRef && sources.absent('secret', secretRef.name, secretRef.optional));
    if (problem !== undefined) return problem;
  }
  for (const { valueFrom: { configMapKeyRef, fileKeyRef, secretKeyRef } = {} } of env) {
    const problem =
      (configMapKeyRef && keyProblem('configmap', configMapKeyRef, sources)) ??
      (secretKeyRef && keyProblem('secret', secretKeyRef, sources)) ??
      (fileKeyRef && fileProblem(pod, container, fileKeyRef));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * A file with variables is in an empty volume, which another container has to fill. What init containers write is not
 * known here, but where none of them has the volume there is no file.
 */
function fileProblem(
  { spec }: ReadablePod,
  container: Container,
  { optional = false, volumeName }: DeepReadonly<coreV1.FileKeySelector>,
): string | undefined {
  if (optional) return undefined;
  const writers = (spec.initContainers ?? []).filter(
    ({ name, volumeMounts = [] }) =>
      name !== container.name && volumeMounts.some((mount) => mount.name === volumeName),
  );
  return writers.length > 0 ? undefined : "couldn't parse env file";
}

interface KeyReference {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

function keyProblem(
  kind: Kind,
  { key, name = '', optional = false }: KeyReference,
  sources: Sources,
): string | undefined {
  if (optional) return undefined;
  const keys = sources.keysOf(kind, name);
  if (!keys) return sources.absent(kind, name);
  const word = kind === 'configmap' ? 'ConfigMap' : 'Secret';
  return keys.has(key) ? undefined : `couldn't find key ${key} in ${word} ${sources.namespace}/${name}`;
}

function mountProblem(
  pod: ReadablePod,
  volume: Volume,
  sources: Sources,
  { claimState }: SourceLookup,
): string | undefined {
  const { configMap, ephemeral, name, persistentVolumeClaim, projected, secret } = volume;
  const claim = ephemeral ? ephemeralClaimName(pod.metadata.name, name) : persistentVolumeClaim?.claimName;
  if (claim !== undefined) return claimProblem(sources.namespace, name, claim, claimState);
  const problems = [
    filesProblem('configmap', configMap && { ...configMap }, sources),
    filesProblem('secret', secret && { ...secret, name: secret.secretName }, sources),
    ...(projected?.sources ?? []).flatMap((each) => projectionProblems(each, sources)),
  ].filter((problem) => problem !== undefined);
  if (problems.length === 0) return undefined;
  const why = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
  return `MountVolume.SetUp failed for volume "${name}" : ${why}`;
}

function projectionProblems({ configMap, secret }: Projection, sources: Sources): (string | undefined)[] {
  return [
    configMap?.name === ROOT_CA ? undefined : filesProblem('configmap', configMap, sources),
    filesProblem('secret', secret, sources),
  ];
}

interface Files {
  readonly name?: string;
  readonly optional?: boolean;
  readonly items?: readonly { readonly key: string }[];
}

function filesProblem(kind: Kind, files: Files | undefined, sources: Sources): string | undefined {
  if (!files) return undefined;
  const { items = [], name = '', optional = false } = files;
  if (optional) return undefined;
  const keys = sources.keysOf(kind, name);
  if (!keys) return sources.absent(kind, name);
  const missing = items.find(({ key }) => !keys.has(key));
  if (!missing) return undefined;
  return kind === 'configmap'
    ? `configmap references non-existent config key: ${missing.key}`
    : `references non-existent secret key: ${missing.key}`;
}

function claimProblem(
  namespace: string,
  volume: string,
  claim: string,
  claimState: SourceLookup['claimState'],
): string | undefined {
  const state = claimState(namespace, claim);
  if (state === 'bound') return undefined;
  const why =
    state === 'unbound'
      ? 'PVC is not bound'
      : `failed to fetch PVC from API server: persistentvolumeclaims "${claim}" not found`;
  return `Unable to attach or mount volumes: unmounted volumes=[${volume}], unattached volumes=[], failed to process volumes=[${volume}]: error processing PVC ${namespace}/${claim}: ${why}`;
}
