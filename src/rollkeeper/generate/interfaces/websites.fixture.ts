import type { Condition, KubernetesObject } from '../../../runtime/index.js';
import { defineKind } from '../../../runtime/index.js';

/** @maxLength 63 */
type LabelValue = string;

/** One of its servers. */
interface Backend {
  readonly name: string;
  /** @default false */
  readonly isSecure: boolean;
}

/**
 * The wanted state.
 * @rule self.host == oldSelf.host
 * @message host is immutable
 */
interface WebsiteSpec {
  /**
   * The name that it is reached by.
   * @minLength 1
   * @maxLength 253
   */
  host: string;
  /**
   * @integer
   * @minimum 0
   * @maximum 10
   * @default 2
   */
  replicas: number;
  /** @default free */
  tier: 'free' | 'paid';
  port?: number | string;
  weight?: number | null;
  big?: bigint;
  at?: Date;
  /** @pattern ^\d+Gi$ */
  size?: `${number}Gi`;
  labels?: Record<string, LabelValue>;
  /**
   * @minItems 1
   * @listType map
   * @listMapKey name
   */
  backends: readonly Backend[];
  extra?: unknown;
}

/**
 * A website.
 * @crd
 * @shortName ws
 * @category all
 * @column Host .spec.host
 * @column "Is ready" .status.ready boolean 1 by its pods
 * @scale .spec.replicas .status.replicas
 * @rule self.metadata.name.size() < 50
 * @message is too long
 */
export interface Website extends KubernetesObject {
  /**
   * @rule self.replicas > 0
   * @reason FieldValueInvalid
   * @fieldPath .replicas
   */
  spec: WebsiteSpec;
  status?: {
    replicas?: bigint;
    ready?: boolean;
    conditions?: Condition[];
  };
}
export const Website = defineKind<Website>({ group: 'example.com', version: 'v1', kind: 'Website' });

/** @crd */
interface OldWebsite extends KubernetesObject {
  spec: Pick<WebsiteSpec, 'host'> & { address?: string };
}
export const WebsiteV1beta1 = defineKind<OldWebsite>({
  ...{ group: 'example.com', version: 'v1beta1', kind: 'Website' },
});

/** A kind of another operator: it is watched, and not defined. */
export interface Certificate extends KubernetesObject {
  spec: { secretName: string };
}
export const Certificate = defineKind<Certificate>({
  ...{ group: 'cert-manager.io', version: 'v1', kind: 'Certificate' },
});

export const notes = ['no kind'];
