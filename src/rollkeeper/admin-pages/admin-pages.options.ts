import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { LocalReads } from '../admin/decide-access.js';
import { LOCAL_READS } from '../admin/decide-access.js';
import type { AdminTls } from './admin-tls.js';
import { decideAdminTls } from './admin-tls.js';

/** Of {@link adminPages}. */
export interface AdminPagesOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** `0.0.0.0` for the other replicas and a kubelet. @default '127.0.0.1' */
  readonly host?: string;
  /** Holds the word of at least 16 characters with which people may change things and read from elsewhere. @default nobody may */
  readonly tokenFile?: string;
  /** Whether the API server judges other tokens (TokenReview, SubjectAccessReview). @default 'token': they are wrong */
  readonly auth?: 'token' | 'delegated';
  /** PEM, with `tlsKeyFile`; read again when they change. @default a self-made certificate wherever others can reach the port */
  readonly tlsCertFile?: string;
  readonly tlsKeyFile?: string;
  /** Plain HTTP, though others can reach the port: tokens can be read on the way. @default false */
  readonly insecureHttp?: boolean;
  /** Whether `/metrics` is for everybody who reaches the port. @default false */
  readonly openMetrics?: boolean;
  /**
   * Who on this machine reads without a token: `anyone`, the user of this process and root (`own-user`; Linux tells users apart, elsewhere
   * it is `anyone`), or nobody (`token`). @default 'anyone'
   */
  readonly localReads?: LocalReads;
  /** Traces kept in memory for the console, where the manager makes its own tracing. @default 200 */
  readonly recentTraces?: number;
}

/** Where its errors say that they are. */
const PREFIX = 'adminPages';
const file = z.string().min(1, 'must name a file').optional();

const schema = z.object({
  port: z.int().min(0).max(65535),
  host: z.string().min(1).default('127.0.0.1'),
  tokenFile: file,
  auth: z.enum(['token', 'delegated'], 'must be token or delegated').default('token'),
  tlsCertFile: file,
  tlsKeyFile: file,
  insecureHttp: z.boolean().default(false),
  openMetrics: z.boolean().default(false),
  localReads: z.enum(LOCAL_READS, 'must be anyone, own-user or token').default('anyone'),
  recentTraces: z.int().min(0).max(100_000).default(200),
});

export type CompiledAdminPagesOptions = Readonly<z.output<typeof schema>> & { readonly tls: AdminTls };

/** What the options are called in errors. */
export const OPTION_NAMES = {
  certFile: `${PREFIX}.tlsCertFile`,
  keyFile: `${PREFIX}.tlsKeyFile`,
  insecureHttp: `${PREFIX}.insecureHttp`,
  tokenFile: `${PREFIX}.tokenFile`,
} as const;

/** @throws InvalidOptionError naming the option */
export function compileAdminPagesOptions(options: AdminPagesOptions): CompiledAdminPagesOptions {
  const compiled = compileOptions(schema, options, PREFIX);
  const { host, insecureHttp, tlsCertFile: certFile, tlsKeyFile: keyFile } = compiled;
  return Object.freeze({
    ...compiled,
    tls: decideAdminTls({ host, certFile, keyFile, insecureHttp }, OPTION_NAMES),
  });
}
