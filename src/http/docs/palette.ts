/** The colours of every page the service serves: `/docs`, the portal and the password page, light and dark. */
export const palette = `
:root {
  color-scheme: light dark;
  --text: #1c2430; --soft: #5b6675; --line: #e2e6ec; --page: #fff; --panel: #f6f8fa; --accent: #0b6bcb;
  --on-accent: #fff; --code: #10161f; --code-text: #e3e9f2; --good: #1a7f4b; --bad: #b3261e; --warn: #8a5a00;
  --get: #0b6bcb; --post: #1a7f4b; --patch: #9a6400; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e4e9f0; --soft: #98a4b5; --line: #29313d; --page: #12171e; --panel: #1a212b; --accent: #6cb2ff;
    --on-accent: #0b0f14; --code: #0b0f14; --code-text: #e3e9f2; --good: #5fd39a; --bad: #ff8f86; --warn: #f0b95a;
    --get: #6cb2ff; --post: #5fd39a; --patch: #f0b95a; --delete: #ff8f86;
  }
}
`;
