export type {
  ApiClient,
  DeleteCollectionOptions,
  DeleteOptions,
  DeleteResult,
  DiscoverOptions,
  DiscoveredResource,
  DiscoveredResources,
  ExecOptions,
  ExecResult,
  GetOptions,
  ListOptions,
  ListPage,
  LogOptions,
  PatchType,
  PortForwardOptions,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './api-client.js';
export type { ApiClientMetrics, ApiClientRequest, ApiClientRetry } from './api-client-metrics.js';
export {
  ApiStatusError,
  WatchErrorEvent,
  apiStatusOf,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isObjectNotFound,
  isTooManyRequests,
  unlessGone,
} from './api-status-error.js';
export type { ApiStatus } from './api-status-error.js';
export type { ClusterConnection, CredentialHeaders, Credentials, TlsMaterial } from './cluster-connection.js';
export { basicAuth, bearerToken, fixedCredentials, impersonating } from './credentials.js';
export type { ImpersonatedUser } from './credentials.js';
export type { ApiConnections, RequestDispatcher } from './connections.js';
export { NotStartedError } from './ask-before-start.js';
export { WriteInterceptingClient, delegatingClient, withOwnWrites } from './around-writes.js';
export { forwardPort } from './forward-port.js';
export type { ForwardPortOptions, ForwardedPort } from './forward-port.js';
export { ObjectShard } from './object-shard.js';
export { listAll } from './list-all.js';
export { createHttpApiClient } from './http-api-client.js';
export type { HttpApiClient, Readiness, ServerInfo } from './http-api-client.js';
export type { HttpApiClientOptions } from './http-api-client.options.js';
export { contextKubeconfig, contextNames, isClusterConfigured, loadKubeconfig } from './load-kubeconfig.js';
export type { LoadKubeconfigOptions } from './load-kubeconfig.options.js';
export { connectionFor, serviceAccountCredentials } from './service-account-credentials.js';
export type { ServiceAccountCredentialsOptions } from './service-account-credentials.js';
export { ApiConnectionError, ApiProtocolError } from './transport-errors.js';
export type { ApiWrite, NoteUnanswered, RecordWrite } from './around-writes.js';
export { API_WRITE_ATTRIBUTES, withSpans } from './with-spans.js';
export { withTraceAnnotations } from './with-trace-annotations.js';
export { writeAnswerOf } from './write-answer.js';
export type { WriteAnswer } from './write-answer.js';
export { withWriteGuard } from './with-write-guard.js';
