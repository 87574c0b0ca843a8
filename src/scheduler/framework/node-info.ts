import type { DeepReadonly, Int64, LabelMatcher, Node, Pod } from '@rollkeeper/machinery/kubernetes';

export type ReadablePod = DeepReadonly<Pod>;
export type ReadableNode = DeepReadonly<Node>;

/** Amounts by resource name. cpu in milli-cores; everything else in its whole unit (bytes, pieces). Exact: see `amounts.ts`. */
export type ResourceAmounts = ReadonlyMap<string, Int64>;

/** A pod as filters and scores need it: with everything that has to be computed of it only once. */
export interface PodInfo {
  readonly pod: ReadablePod;
  /** `namespace/name`. */
  readonly key: string;
  /** The resources that the pod asks for: containers, sidecars, init containers, pod-level resources and overhead. */
  readonly requests: ResourceAmounts;
  /** cpu and memory as scores count them: what is not stated counts 100m and 200 MiB per container. */
  readonly nonZeroRequests: CpuAndMemory;
  readonly hostPorts: readonly HostPort[];
  readonly affinity: PodAffinityTerms;
  /** 0 where the pod states none. */
  readonly priority: number;
}

export interface CpuAndMemory {
  /** In milli-cores. */
  readonly cpu: Int64;
  /** In bytes. */
  readonly memory: Int64;
}

/** The pod's affinity and anti-affinity to other pods, compiled. */
export interface PodAffinityTerms {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly WeightedAffinityTerm[];
  readonly preferredAnti: readonly WeightedAffinityTerm[];
}

export interface AffinityTerm {
  readonly topologyKey: string;
  /** Named namespaces; the pod's own where the term says nothing of namespaces. */
  readonly namespaces: ReadonlySet<string>;
  /** Selects further namespaces by their labels; none where the term has no such selector. */
  readonly selectsNamespace: LabelMatcher | undefined;
  readonly selectsLabels: LabelMatcher;
  /** Terms with the same key select the same pods; none where that depends on the labels of namespaces. */
  readonly key: string | undefined;
}

export interface WeightedAffinityTerm extends AffinityTerm {
  readonly weight: number;
}

export interface HostPort {
  /** `0.0.0.0` where the pod names none. */
  readonly ip: string;
  /** `TCP` where the pod names none. */
  readonly protocol: string;
  readonly port: number;
}

/** An image that a node has. */
export interface ImageState {
  /** In bytes. */
  readonly size: Int64;
  /** How many nodes have it. */
  readonly nodes: number;
}

/** A node with the pods that are on it, or are taken to be (assumed, nominated). Immutable for the time of one attempt. */
export interface NodeInfo {
  readonly node: ReadableNode;
  readonly name: string;
  /** In the order in which they came. */
  readonly pods: readonly PodInfo[];
  /** Each of `pods` that states any pod affinity or anti-affinity. */
  readonly podsWithAffinity: readonly PodInfo[];
  /** Each of `pods` that states required anti-affinity. */
  readonly podsWithRequiredAntiAffinity: readonly PodInfo[];
  readonly allocatable: ResourceAmounts;
  readonly requested: ResourceAmounts;
  readonly nonZeroRequested: CpuAndMemory;
  readonly hostPorts: readonly HostPort[];
  /** By normalised name. */
  readonly images: ReadonlyMap<string, ImageState>;
  /** Grows with every change of the node or its pods, so that what was computed from it can be kept. */
  readonly generation: number;
}

/** All nodes at the start of an attempt, in the order in which they are searched (round-robin over zones). */
export interface Snapshot {
  readonly nodes: readonly NodeInfo[];
  get(name: string): NodeInfo | undefined;
  readonly withAffinity: readonly NodeInfo[];
  readonly withRequiredAntiAffinity: readonly NodeInfo[];
  /** How many distinct pods on nodes use the claim, by `namespace/claim`. */
  claimUsers(key: string): number;
}

/** Pods that get a node once the victims of their preemption no longer exist. */
export interface NominatedPods {
  on(node: string): readonly PodInfo[];
}
