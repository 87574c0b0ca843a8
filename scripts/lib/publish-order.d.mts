export interface PublishedPackage {
  readonly name: string;
  readonly file: string;
}

export function publishOrder(): readonly PublishedPackage[];
