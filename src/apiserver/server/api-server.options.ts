import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { AdmissionPluginName, ObjectCheck, UnknownAccounts } from '../access/admission/index.js';
import type { ApiServerMetrics } from './api-server-metrics.js';
import type { SigningKey, TokenUser } from '../access/auth/index.js';
import type { Interfaces } from './bootstrap/api-endpoints.js';
import type { ServerLimits } from '../http/index.js';
import type { KindRegistry } from '../kinds/index.js';
import type { WebhookCaller } from '../kinds/webhook-client/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import type { Storage } from '../storage/index.js';
import type { TlsMaterial } from './tls-files.js';

export interface ApiServerOptions {
  /** The caller runs its `run`, which must continue for as long as the server runs. */
  readonly storage: Storage;
  readonly kinds: KindRegistry;
  readonly schemas: SchemaRegistry;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Absent: plain HTTP. */
  readonly tls?: Pick<TlsMaterial, 'cert' | 'key'>;
  /** The administrator's token, which grants everything. Absent: every request is allowed. */
  readonly token?: string;
  /** Users beside the administrator. Roles and bindings say what they may do. @default none */
  readonly users?: readonly TokenUser[];
  /** Certificates, PEM, whose holders a client certificate may be signed by: its CN is the user, its O the groups. @default none */
  readonly clientCa?: string;
  /** Signs the tokens of service accounts. @default one of its own, so that they end with the server */
  readonly signingKey?: SigningKey;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** The addresses of the machine, of which the `kubernetes` Service's endpoints have one. @default those it has at the start */
  readonly interfaces?: Interfaces;
  /** 0 lets the system choose. @default 0 */
  readonly port?: number;
  /** @default none */
  readonly metrics?: ApiServerMetrics;
  /** How long a stop waits for requests under way, milliseconds. @default 5000 */
  readonly drainTimeoutMs?: number;
  readonly limits?: ServerLimits;
  /** How the process was started, by name, for `/flagz`; secrets must be left out. @default none */
  readonly flags?: Readonly<Record<string, string>>;
  /** kube-apiserver's plug-ins that let everything pass. @default none */
  readonly disabledAdmissionPlugins?: readonly AdmissionPluginName[];
  /** The treatment of pods whose service account does not exist; kube-apiserver refuses them. @default 'warn' */
  readonly unknownServiceAccounts?: UnknownAccounts;
  /** Checks of objects beyond those of Kubernetes. @default none */
  readonly checks?: readonly ObjectCheck[];
  /**
   * The addresses of webhooks' Services, `namespace/name` → `host:port`: simulated pods have no network.
   * @default where the Service's external name or endpoints say
   */
  readonly webhookServices?: Readonly<Record<string, string>>;
  /** Calls webhooks without a network, in a simulation. @default over HTTPS */
  readonly webhookCaller?: WebhookCaller;
}
