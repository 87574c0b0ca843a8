import type {
  Amounts,
  DeepReadonly,
  KubernetesObject,
  NodeTerm,
  Taint,
} from '@rollkeeper/machinery/kubernetes';

/** The parts of `resource.k8s.io/v1` that allocation reads and writes. */

export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeTerm[];
}

interface CelSelector {
  readonly cel?: { readonly expression: string };
}

export interface DeviceToleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** One kind of device that a claim asks for. */
export interface WantedDevices {
  readonly deviceClassName?: string;
  readonly selectors?: readonly CelSelector[];
  /** @default ExactCount */
  readonly allocationMode?: string;
  /** @default 1 */
  readonly count?: number;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly capacity?: { readonly requests?: Amounts };
}

export interface DeviceRequest {
  readonly name: string;
  readonly exactly?: WantedDevices;
  readonly firstAvailable?: readonly (WantedDevices & { readonly name: string })[];
}

export interface DeviceConstraint {
  readonly requests?: readonly string[];
  readonly matchAttribute?: string;
  readonly distinctAttribute?: string;
}

export interface DeviceConfig {
  readonly requests?: readonly string[];
  readonly opaque?: unknown;
}

export interface AllocatedDevice {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly adminAccess?: boolean;
  readonly tolerations?: readonly DeviceToleration[];
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly shareID?: string;
  readonly consumedCapacity?: Readonly<Record<string, string>>;
}

export interface Allocation {
  readonly devices?: {
    readonly results?: readonly AllocatedDevice[];
    readonly config?: readonly (DeviceConfig & { readonly source: 'FromClass' | 'FromClaim' })[];
  };
  readonly nodeSelector?: NodeSelector;
  readonly allocationTimestamp?: string;
}

/** The status that a driver reports of a device that a claim has. */
interface DeviceStatus {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
}

interface ClaimParts {
  readonly spec: {
    readonly devices?: {
      readonly requests?: readonly DeviceRequest[];
      readonly constraints?: readonly DeviceConstraint[];
      readonly config?: readonly DeviceConfig[];
    };
  };
  readonly status?: {
    readonly allocation?: Allocation;
    readonly devices?: readonly DeviceStatus[];
    readonly reservedFor?: readonly {
      readonly resource: string;
      readonly name: string;
      readonly uid: string;
    }[];
  };
}

export type ResourceClaim = KubernetesObject & ClaimParts;
export type ReadableClaim = DeepReadonly<KubernetesObject> & ClaimParts;

export type DeviceClass = KubernetesObject & {
  readonly spec: {
    readonly selectors?: readonly CelSelector[];
    readonly config?: readonly DeviceConfig[];
    readonly extendedResourceName?: string;
  };
};

export interface DeviceAttribute {
  readonly string?: string;
  readonly int?: number | bigint;
  readonly bool?: boolean;
  readonly version?: string;
}

export interface DeviceCapacity {
  readonly value: string | number;
  readonly requestPolicy?: {
    readonly default?: string | number;
    readonly validValues?: readonly (string | number)[];
    readonly validRange?: {
      readonly min?: string | number;
      readonly max?: string | number;
      readonly step?: string | number;
    };
  };
}

interface NodeSelection {
  readonly nodeName?: string;
  readonly allNodes?: boolean;
  readonly nodeSelector?: NodeSelector;
}

interface CounterUse {
  readonly counterSet: string;
  readonly counters?: Readonly<Record<string, { readonly value: string | number }>>;
}

export interface Device extends NodeSelection {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>;
  readonly consumesCounters?: readonly CounterUse[];
  readonly taints?: readonly Pick<Taint, 'effect' | 'key' | 'value'>[];
  readonly allowMultipleAllocations?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly bindsToNode?: boolean;
}

export type ResourceSlice = KubernetesObject & {
  readonly spec: NodeSelection & {
    readonly driver: string;
    readonly pool: {
      readonly name: string;
      readonly generation: number;
      readonly resourceSliceCount: number;
    };
    readonly perDeviceNodeSelection?: boolean;
    readonly devices?: readonly Device[];
    readonly sharedCounters?: readonly {
      readonly name: string;
      readonly counters?: Readonly<Record<string, { readonly value: string | number }>>;
    }[];
  };
};
export type ReadableSlice = DeepReadonly<KubernetesObject> & Pick<ResourceSlice, 'spec'>;
export type { NodeSelection };
