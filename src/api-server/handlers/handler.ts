import type { AdmissionUser } from '../admission/index.js';
import type { ApiRequest, ApiResponse, Negotiated } from '../http/index.js';
import type { KindDefinition } from '../kinds/index.js';
import type { RegistryContext } from '../registry/index.js';

/** A request whose path was found to lead to a kind. */
export interface ResourceCall {
  readonly request: ApiRequest;
  readonly kind: KindDefinition;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  readonly subresource: string;
  /** How the client wants the answer. */
  readonly accept: Negotiated;
  /** Who asks. */
  readonly user: AdmissionUser;
}

/** One verb. Refuses by throwing a StatusError. */
export type Handler = (context: RegistryContext, call: ResourceCall) => Promise<ApiResponse>;
