import type { Node } from '@rollkeeper/machinery/kubernetes';
import type { FollowedObjects, Storage } from '../../../storage/index.js';
import type { Attributes } from '../attributes.js';
import type { AccessDecider } from '../request-authority.js';

export interface NodeRestrictionKnowledge {
  readonly nodes: FollowedObjects<Node>;
  readonly storage: Pick<Storage, 'get'>;
  readonly access: AccessDecider;
}

/** The node that asks, and what it asks for. */
export interface NodeRequest {
  readonly node: string;
  readonly attributes: Attributes;
  readonly known: NodeRestrictionKnowledge;
}
