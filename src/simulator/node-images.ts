import type { DeepReadonly, Pod, PodStatus } from '@rollkeeper/machinery/kubernetes';
import { IMAGE_PULL_AFTER_ANNOTATION, IMAGE_PULL_FAILURES_ANNOTATION } from './image-pull.js';
import type { CompiledNodeProfile } from './node-profile.js';
import { profileOf } from './node-profile.js';
import { statusesOf } from './pod-conditions.js';

/** Images that a node keeps. */
const MOST_KEPT = 500;

/** The images that nodes have: those of their profiles, and those that were pulled. Kept where pulls take time or fail, and
 * where the node's images are listed. */
export class NodeImages {
  private readonly pulled = new Map<number, Set<string>>();

  constructor(private readonly profiles: readonly CompiledNodeProfile[]) {}

  has(node: number, image: string): boolean {
    if (this.pulled.get(node)?.has(image)) return true;
    return profileOf(node, this.profiles).images.includes(image);
  }

  /** Whether the node's profile lists its images, and this one has not come to it since. */
  lacks(node: number, image: string): boolean {
    return profileOf(node, this.profiles).images.length > 0 && !this.has(node, image);
  }

  /** A status about to be written shows which containers have their images. */
  note(
    node: number,
    { metadata: { annotations = {} } }: DeepReadonly<Pod>,
    status: DeepReadonly<PodStatus>,
  ): void {
    const { imagePullAfterMs, images: own } = profileOf(node, this.profiles);
    const matters = imagePullAfterMs > 0 || own.length > 0;
    if (!matters && !Object.keys(annotations).some(isAboutPulls)) return;
    const images = this.pulled.get(node) ?? new Set();
    this.pulled.set(node, images);
    for (const { containerID, image } of statusesOf(status))
      if (containerID !== undefined) keep(images, image);
  }
}

/** A kubelet removes the images that were used longest ago. */
function keep(images: Set<string>, image: string): void {
  images.delete(image);
  images.add(image);
  const [oldest] = images;
  if (images.size > MOST_KEPT && oldest !== undefined) images.delete(oldest);
}

function isAboutPulls(annotation: string): boolean {
  return [IMAGE_PULL_AFTER_ANNOTATION, IMAGE_PULL_FAILURES_ANNOTATION].some((name) =>
    annotation.startsWith(name),
  );
}
