import type { Volume, VolumeProjection } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { goQuote } from '@rollkeeper/machinery/kubernetes';

/** A file of a projected volume, and what it is made of as messages name it. */
interface ProjectedFile {
  readonly path: string;
  readonly source: string;
}

/**
 * What is odd about the files of a projected volume: a source that has none, and two files of which one hides the other.
 * Source: checkVolumeMappingForOverlap in pkg/api/pod/warnings.go.
 */
export function projectedWarnings({ name = '', projected }: Decoded<Volume>): string[] {
  const volume = `volume ${goQuote(name)} (Projected)`;
  const warnings: string[] = [];
  const before: ProjectedFile[] = [];
  for (const source of projected?.sources ?? []) {
    if (Object.keys(source).length === 0) {
      warnings.push(`${volume} has no sources provided`);
      continue;
    }
    const files = filesOf(source);
    for (const file of files) {
      const hidden = before.find(({ path }) => overlaps(path, file.path));
      if (hidden) warnings.push(`${volume}: overlapping paths: ${shown(file)} with ${shown(hidden)}`);
    }
    before.push(...files);
  }
  return warnings;
}

function shown({ path, source }: ProjectedFile): string {
  return `${goQuote(path)} (${source})`;
}

/** Whether two files are one, or one is where the other has a folder. */
function overlaps(one: string, other: string): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  return longer === shorter || longer.startsWith(`${shorter.replace(/\/$/, '')}/`);
}

function filesOf(source: Decoded<VolumeProjection>): ProjectedFile[] {
  const { configMap, downwardAPI, secret, serviceAccountToken } = source;
  const listed = (items: readonly { readonly path?: string }[] | undefined, kind: string): ProjectedFile[] =>
    (items ?? []).map(({ path = '' }) => ({ path, source: kind }));
  return [
    ...listed(secret?.items, `Secret ${goQuote(secret?.name ?? '')}`),
    ...listed(configMap?.items, `ConfigMap ${goQuote(configMap?.name ?? '')}`),
    ...listed(downwardAPI?.items, 'DownwardAPI'),
    ...(serviceAccountToken ? listed([serviceAccountToken], 'ServiceAccountToken') : []),
  ];
}
