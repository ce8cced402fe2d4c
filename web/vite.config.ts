import { defineConfig } from "vite";

// Addresses are relative to the <base> that the server writes into index.html. The polyfill for module preloads would be
// an inline script; the browsers that we support do not need it.
export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
