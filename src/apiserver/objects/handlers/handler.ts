import type { ApiRequest, ApiResponse, Negotiated } from '../../http/index.js';
import type { KindDefinition } from '../../kinds/index.js';
import type { ProtobufAnswers } from '../../http/protobuf/protobuf-answers.js';
import type { RegistryContext } from '../registry/index.js';
import type { ObjectState } from '../../storage/index.js';
import { presentObject } from '../../http/table.js';

interface ObjectResponseOptions {
  /** @default 200 */
  readonly status?: number;
}

/**
 * Answers with an object in the requested representation. The plain one is the store's own text, which is not parsed.
 */
export function respondWithObject(
  context: RegistryContext,
  call: ResourceCall,
  state: ObjectState,
  { status = 200 }: ObjectResponseOptions = {},
): ApiResponse {
  const { accept, kind } = call;
  if (state.json && accept.as === undefined && accept.format === 'json')
    return { status, raw: state.json.whole(), contentType: 'application/json' };
  return { status, body: presentObject(state.object, kind, call, context.clock.now()) };
}

/** A request whose path was found to lead to a kind. */
export interface ResourceCall {
  readonly request: ApiRequest;
  readonly kind: KindDefinition;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  readonly subresource: string;
  /** The rest of the path, behind the subresource: only that of a proxy has one. */
  readonly rest?: readonly string[];
  /** How the client wants the answer. */
  readonly accept: Negotiated;
  /** Makes answers in protobuf, where `accept` asks for them. */
  readonly protobuf?: ProtobufAnswers;
}

/** One verb. Refuses by throwing a StatusError. */
export type Handler = (context: RegistryContext, call: ResourceCall) => Promise<ApiResponse>;
