import type { Volume, VolumeProjection } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { goQuote } from '@rollkeeper/machinery/kubernetes';

/** A file of a projected volume, and the kind of its source. */
interface ProjectedFile {
  readonly path: string;
  readonly kind: 'Secret' | 'ConfigMap' | 'DownwardAPI' | 'ServiceAccountToken';
  /** Name of the Secret or ConfigMap. */
  readonly from?: string;
}

/** Each file is compared with these many before it: it is a warning only, and comparing all would be quadratic. */
const MOST_COMPARED = 200;

/**
 * Warns of odd files of a projected volume: a source that has none, and two files of which one hides the other. Source:
 * checkVolumeMappingForOverlap in pkg/api/pod/warnings.go.
 */
export function projectedWarnings({ name = '', projected }: Decoded<Volume>): string[] {
  const warnings: string[] = [];
  const before: ProjectedFile[] = [];
  const warn = (what: string): void => void warnings.push(`volume ${goQuote(name)} (Projected)${what}`);
  for (const source of projected?.sources ?? []) {
    const files = filesOf(source);
    if (files.length === 0 && Object.keys(source).length === 0) warn(' has no sources provided');
    for (const file of files) {
      const hidden = before.find(({ path }) => overlaps(path, file.path));
      if (hidden) warn(`: overlapping paths: ${shown(file)} with ${shown(hidden)}`);
    }
    before.push(...files.slice(0, Math.max(0, MOST_COMPARED - before.length)));
  }
  return warnings;
}

/** Made for a warning alone: almost every pod has a projected volume, of its token. */
function shown({ path, kind, from }: ProjectedFile): string {
  return `${goQuote(path)} (${from === undefined ? kind : `${kind} ${goQuote(from)}`})`;
}

/** Whether two files are one, or one is where the other has a folder. */
function overlaps(one: string, other: string): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  if (!longer.startsWith(shorter)) return false;
  return longer.length === shorter.length || shorter.endsWith('/') || longer[shorter.length] === '/';
}

function filesOf({
  configMap,
  downwardAPI,
  secret,
  serviceAccountToken,
}: Decoded<VolumeProjection>): ProjectedFile[] {
  const files: ProjectedFile[] = [];
  for (const { path = '' } of secret?.items ?? [])
    files.push({ path, kind: 'Secret', from: secret?.name ?? '' });
  for (const { path = '' } of configMap?.items ?? [])
    files.push({ path, kind: 'ConfigMap', from: configMap?.name ?? '' });
  for (const { path = '' } of downwardAPI?.items ?? []) files.push({ path, kind: 'DownwardAPI' });
  if (serviceAccountToken) files.push({ path: serviceAccountToken.path ?? '', kind: 'ServiceAccountToken' });
  return files;
}
