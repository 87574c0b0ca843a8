import type { ApiClient } from './api-client.js';

/** Every method of `client` as a plain object, for decorators that replace a few. */
export function delegatingClient(client: ApiClient): ApiClient {
  return {
    get: client.get.bind(client),
    list: client.list.bind(client),
    watch: client.watch.bind(client),
    create: client.create.bind(client),
    update: client.update.bind(client),
    patch: client.patch.bind(client),
    delete: client.delete.bind(client),
    deleteCollection: client.deleteCollection.bind(client),
    discover: client.discover.bind(client),
    ping: client.ping.bind(client),
  };
}
