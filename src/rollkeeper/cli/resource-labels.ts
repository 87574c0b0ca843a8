import type { ServedRequest } from '@rollkeeper/apiserver';

/** Far more than a server has at a time. */
const MOST_RESOURCES = 1000;

const OTHER = { group: 'other', version: 'other', resource: 'other' } as const;

/**
 * Decides which resources are labels of metrics. Definitions of custom resources come and go, and a series stays as
 * long as the process: OpenTelemetry bounds the series of one collection, and not of all of them. Beyond the bound, all
 * further resources count as `other`.
 */
export class ResourceLabels {
  private readonly known = new Set<string>();

  /** @param most how many resources have labels of their own. @default 1000 */
  constructor(private readonly most = MOST_RESOURCES) {}

  /** The request with the labels that it may have. */
  of(request: ServedRequest): ServedRequest {
    const { group, resource, version } = request;
    return this.has(`${group}/${version}/${resource}`) ? request : { ...request, ...OTHER };
  }

  /** The same for the qualified name of a resource. */
  ofName(resource: string): string {
    return this.has(resource) ? resource : OTHER.resource;
  }

  private has(name: string): boolean {
    if (this.known.has(name)) return true;
    if (this.known.size >= this.most) return false;
    this.known.add(name);
    return true;
  }
}
