export default {
  parcelhook: {
    input: './api.json',
    output: { target: './generated/client.ts', client: 'fetch', baseUrl: process.env.PARCELHOOK_URL },
  },
};
