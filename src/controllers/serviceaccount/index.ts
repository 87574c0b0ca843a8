export { rootCaPublisherController, serviceAccountController } from './namespace-furniture.js';
