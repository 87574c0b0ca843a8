import type { OwnerReference } from '@rollkeeper/machinery/kubernetes';
import type { SourceName } from '../../../shared/index.js';

/** A copy that is to be made. The content is read and compared when it is made, and is in no plan. */
export interface ConfigCopy {
  readonly source: SourceName;
  readonly namespace: string;
  readonly name: string;
  /** The digest that the content of the source must have. */
  readonly digest: string;
  readonly owner: OwnerReference;
}
