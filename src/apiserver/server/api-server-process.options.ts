import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { readFeatureGates } from '@rollkeeper/machinery/options/feature-gates';
import { ADMISSION_PLUGINS } from '../access/admission/index.js';

export interface ApiServerProcessOptions {
  redisUrl: string;
  /** The folder of the certificates and the token. @default '.rollkeeper' */
  dataDir?: string;
  /** 0 lets the system choose. @default 6443 */
  port?: number;
  /** @default '127.0.0.1' */
  host?: string;
  /** A further name or address that clients may use; the one in `kubeconfig`. */
  advertiseHost?: string;
  /** Written as soon as the server listens; grants full access. @default none is written */
  kubeconfig?: string;
  /** Holds the bearer token; created if missing. @default `token` in the data folder */
  tokenFile?: string;
  /** Further users, as kube-apiserver's `--token-auth-file`: a line `token,name,uid,"group,group"` each. @default none */
  tokenAuthFile?: string;
  /** Certificates, PEM, whose clients are known by their own. @default `ca.crt` of the data folder */
  clientCaFile?: string;
  /** Admission plug-ins that let everything pass, by kube-apiserver's names, comma-separated. @default none */
  disableAdmissionPlugins?: string;
  /** `warn` or `refuse`: how to treat pods with a missing service account. @default 'warn' */
  unknownServiceAccounts?: string;
  /** APIs of a newer Kubernetes, as kube-apiserver's `--feature-gates`: `EvictionRequestAPI=true`. @default all are off */
  featureGates?: string;
  /** Plain HTTP, for measurements. @default false */
  insecure?: boolean;
}

const schema = z.object({
  'redis-url': z.string().min(1),
  'data-dir': z.string().min(1).default('.rollkeeper'),
  port: z.coerce.number().int().min(0).max(65_535).default(6443),
  host: z.string().min(1).default('127.0.0.1'),
  'advertise-host': z.string().min(1).optional(),
  kubeconfig: z.string().min(1, 'must name a file').optional(),
  'token-file': z.string().min(1).optional(),
  'token-auth-file': z.string().min(1).optional(),
  'client-ca-file': z.string().min(1).optional(),
  'disable-admission-plugins': z
    .string()
    .default('')
    .transform((names) => names.split(',').flatMap((name) => name.trim() || []))
    .pipe(z.array(z.enum(ADMISSION_PLUGINS))),
  'unknown-service-accounts': z.enum(['warn', 'refuse']).default('warn'),
  'feature-gates': z
    .string()
    .default('')
    .transform((text, context) => {
      const read = readFeatureGates(text);
      if ('enabled' in read) return read.enabled;
      context.addIssue({ code: 'custom', message: read.problem });
      return z.NEVER;
    }),
  insecure: z.boolean().default(false),
});

export type CompiledApiServerProcessOptions = Readonly<z.infer<typeof schema>>;

/** @throws InvalidOptionError naming the option as the command line does */
export function compileApiServerProcessOptions(
  options: ApiServerProcessOptions,
): CompiledApiServerProcessOptions {
  return compileOptions(schema, {
    'redis-url': options.redisUrl,
    'data-dir': options.dataDir,
    port: options.port,
    host: options.host,
    'advertise-host': options.advertiseHost,
    kubeconfig: options.kubeconfig,
    'token-file': options.tokenFile,
    'token-auth-file': options.tokenAuthFile,
    'client-ca-file': options.clientCaFile,
    'disable-admission-plugins': options.disableAdmissionPlugins,
    'unknown-service-accounts': options.unknownServiceAccounts,
    'feature-gates': options.featureGates,
    insecure: options.insecure,
  });
}
