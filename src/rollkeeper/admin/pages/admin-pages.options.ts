import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { LocalReads } from '../server/decide-access.js';
import { LOCAL_READS } from '../server/decide-access.js';
import type { AdminTls } from './admin-tls.js';
import { decideAdminTls } from './admin-tls.js';

/** Options of {@link adminPages}. */
export interface AdminPagesOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** `0.0.0.0` for the other replicas and a kubelet. @default '127.0.0.1' */
  readonly host?: string;
  /**
   * A file with a secret of at least 16 characters that allows changes and reads from elsewhere. @default neither is
   * possible
   */
  readonly tokenFile?: string;
  /**
   * Whether the API server verifies other tokens (TokenReview, SubjectAccessReview). @default 'token': they are
   * rejected
   */
  readonly auth?: 'token' | 'delegated';
  /**
   * PEM, with `tlsKeyFile`; reread when they change. @default a self-signed certificate if the port is reachable from
   * elsewhere
   */
  readonly tlsCertFile?: string;
  readonly tlsKeyFile?: string;
  /** Plain HTTP even if the port is reachable from elsewhere: tokens can be intercepted. @default false */
  readonly insecureHttp?: boolean;
  /** Whether `/metrics` needs no authorization. @default false */
  readonly openMetrics?: boolean;
  /**
   * The users of this machine who may read without a token: `anyone`, the user of this process and root (`own-user`;
   * only Linux distinguishes users, elsewhere it is `anyone`), or no one (`token`). @default 'anyone'
   */
  readonly localReads?: LocalReads;
  /** Traces kept in memory for the console, if the manager creates its own tracing. @default 200 */
  readonly recentTraces?: number;
}

/** Prefix of option names in errors. */
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

/** Names of the options in errors. */
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
