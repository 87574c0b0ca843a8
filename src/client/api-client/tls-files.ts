import { readNamedFileSync } from '@rollkeeper/machinery/files';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { TlsMaterial } from './cluster-connection.js';

const PARTS = ['ca', 'cert', 'key'] as const;

type Pem = (typeof PARTS)[number];

/** Source of one part of the TLS material: constant bytes, or a file that may be rotated. */
export type PemSource = { readonly data: Buffer } | { readonly path: string };

interface TlsFilesOptions {
  readonly sources: Readonly<Partial<Record<Pem, PemSource>>>;
  /** Name of each part in errors. */
  readonly names: Readonly<Record<Pem, string>>;
  /** Settings that do not come from files. */
  readonly fixed: Pick<TlsMaterial, 'serverName' | 'insecureSkipVerify'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval for rereading files. */
const MAX_AGE_MS = 10_000;

/** TLS material from files that are reread now and then, because short-lived certificates are rotated. */
export class TlsFiles {
  private material: TlsMaterial;
  private lookedAtMs: number;

  /** @throws InvalidOptionError naming a file that cannot be read */
  constructor(private readonly options: TlsFilesOptions) {
    this.lookedAtMs = options.clock.monotonicNow();
    this.material = this.read();
  }

  /** The same object until something has changed. */
  get current(): TlsMaterial {
    const nowMs = this.options.clock.monotonicNow();
    if (nowMs - this.lookedAtMs >= MAX_AGE_MS) {
      this.lookedAtMs = nowMs;
      this.lookAgain();
    }
    return this.material;
  }

  /** A file that cannot be read or is half written is ignored while the last material may still be valid. */
  private lookAgain(): void {
    const { sources } = this.options;
    if (!PARTS.some((part) => sources[part] && 'path' in sources[part])) return;
    try {
      const read = this.read();
      if (!isSame(read, this.material)) this.material = read;
    } catch (error) {
      this.options.logger.warn('could not reread certificates; keeping the old ones', {
        reason: errorMessage(error),
      });
    }
  }

  private read(): TlsMaterial {
    return { ...this.options.fixed, ca: this.pem('ca'), cert: this.pem('cert'), key: this.pem('key') };
  }

  private pem(part: Pem): Buffer | undefined {
    const source = this.options.sources[part];
    if (!source) return undefined;
    if ('data' in source) return source.data;
    try {
      return readNamedFileSync(source.path);
    } catch (error) {
      throw new InvalidOptionError(this.options.names[part], errorMessage(error), { cause: error });
    }
  }
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return PARTS.every((part) => String(a[part] ?? '') === String(b[part] ?? ''));
}
