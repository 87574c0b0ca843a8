import type { FieldError } from '../../schema/errors/index.js';
import type { Attributes, WriteAttributes } from './attributes.js';

/** A plug-in for writes of one resource, or of one of its subresources. */
export interface Plugin {
  /** kube-apiserver's name of it. */
  readonly name: string;
  /** Qualified: `ingresses.networking.k8s.io`. */
  readonly resource: string;
  /** @default the object itself */
  readonly subresource?: string;
  /** Completes a new state, in place. */
  mutate?(attributes: WriteAttributes): void | Promise<void>;
  /** Completes the object behind a subresource whose body is another one, such as a Scale, in place. */
  mutateBehind?(attributes: WriteAttributes): void;
  /**
   * Finds the problems of a complete new state; they are named before what its kind finds wrong with it, in the same
   * refusal.
   */
  problems?(attributes: WriteAttributes): Promise<readonly FieldError[]>;
  /** @throws StatusError if a complete and valid new state may not be stored */
  validate?(attributes: WriteAttributes): void | Promise<void>;
  /** @throws StatusError if the object may not be deleted */
  validateDeletion?(attributes: Attributes): void | Promise<void>;
}
