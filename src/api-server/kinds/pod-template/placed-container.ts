import type { IContainer } from 'kubernetes-models/v1/Container';

/** A container, and the path of its field, for example `spec.initContainers[0]`. */
export interface PlacedContainer {
  readonly container: IContainer;
  readonly at: string;
}
