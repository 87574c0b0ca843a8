export { endpointsController } from './endpoints-controller.js';
export { endpointSliceController } from './endpoint-slice-controller.js';
