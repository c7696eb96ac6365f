// The parts of org_kde_plasma_window_management, org_kde_plasma_virtual_desktop_management and xdg-output-unstable-v1 that the adapter
// uses. They are described by hand, as in shim.h.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <wayland-client.h>

// Versions up to these are known: a newer compositor speaks an older one to who binds that.
#define PLASMA_WINDOW_MANAGEMENT_VERSION 16
#define PLASMA_VIRTUAL_DESKTOPS_VERSION 2
#define XDG_OUTPUT_VERSION 2

// Bits of a window's state. A newer compositor may set others.
enum plasma_window_state {
  PLASMA_WINDOW_ACTIVE = 1 << 0,
  PLASMA_WINDOW_MINIMIZED = 1 << 1,
  PLASMA_WINDOW_FULLSCREEN = 1 << 3,
  PLASMA_WINDOW_ON_ALL_DESKTOPS = 1 << 6,
  PLASMA_WINDOW_DEMANDS_ATTENTION = 1 << 7,
  PLASMA_WINDOW_CLOSEABLE = 1 << 8,
  PLASMA_WINDOW_MINIMIZABLE = 1 << 9,
  PLASMA_WINDOW_SKIPS_TASKBAR = 1 << 12,
  PLASMA_WINDOW_SKIPS_SWITCHER = 1 << 18,
};

static const struct wl_interface plasma_window_interface;
static const struct wl_interface plasma_desktop_interface;
static const struct wl_interface xdg_output_interface;

static const struct wl_interface *const plasma_no_types[] = {NULL, NULL, NULL, NULL, NULL};
static const struct wl_interface *const plasma_window_types[] = {&plasma_window_interface, NULL};
static const struct wl_interface *const plasma_desktop_types[] = {&plasma_desktop_interface, NULL};
static const struct wl_interface *const plasma_output_types[] = {&wl_output_interface};
static const struct wl_interface *const plasma_panel_types[] = {&wl_surface_interface, NULL, NULL, NULL, NULL};
static const struct wl_interface *const xdg_output_types[] = {&xdg_output_interface, &wl_output_interface};

#define PLASMA_TYPES(types) (const struct wl_interface **)(types)
#define PLASMA_MESSAGE(name, signature) {name, signature, PLASMA_TYPES(plasma_no_types)}
#define PLASMA_COUNT(messages) (sizeof(messages) / sizeof *(messages))

// Windows.

static const struct wl_message plasma_window_requests[] = {
    PLASMA_MESSAGE("set_state", "uu"),
    PLASMA_MESSAGE("set_virtual_desktop", "u"),
    {"set_minimized_geometry", "ouuuu", PLASMA_TYPES(plasma_panel_types)},
    {"unset_minimized_geometry", "o", PLASMA_TYPES(plasma_panel_types)},
    PLASMA_MESSAGE("close", ""),
    PLASMA_MESSAGE("request_move", "3"),
    PLASMA_MESSAGE("request_resize", "3"),
    PLASMA_MESSAGE("destroy", "4"),
    PLASMA_MESSAGE("get_icon", "7h"),
    PLASMA_MESSAGE("request_enter_virtual_desktop", "8s"),
    PLASMA_MESSAGE("request_enter_new_virtual_desktop", "8"),
    PLASMA_MESSAGE("request_leave_virtual_desktop", "8s"),
    PLASMA_MESSAGE("request_enter_activity", "14s"),
    PLASMA_MESSAGE("request_leave_activity", "14s"),
    {"send_to_output", "15o", PLASMA_TYPES(plasma_output_types)},
};
enum {
  PLASMA_WINDOW_SET_STATE = 0,
  PLASMA_WINDOW_CLOSE = 4,
  PLASMA_WINDOW_DESTROY = 7,
  PLASMA_WINDOW_ENTER_DESKTOP = 9,
  PLASMA_WINDOW_LEAVE_DESKTOP = 11,
  PLASMA_WINDOW_SEND_TO_OUTPUT = 14,
};

static const struct wl_message plasma_window_events[] = {
    PLASMA_MESSAGE("title_changed", "s"),
    PLASMA_MESSAGE("app_id_changed", "s"),
    PLASMA_MESSAGE("state_changed", "u"),
    PLASMA_MESSAGE("virtual_desktop_changed", "i"),
    PLASMA_MESSAGE("themed_icon_name_changed", "s"),
    PLASMA_MESSAGE("unmapped", ""),
    PLASMA_MESSAGE("initial_state", "4"),
    {"parent_window", "5?o", PLASMA_TYPES(plasma_window_types)},
    PLASMA_MESSAGE("geometry", "6iiuu"),
    PLASMA_MESSAGE("icon_changed", "7"),
    PLASMA_MESSAGE("pid_changed", "u"),
    PLASMA_MESSAGE("virtual_desktop_entered", "8s"),
    PLASMA_MESSAGE("virtual_desktop_left", "8s"),
    PLASMA_MESSAGE("application_menu", "10ss"),
    PLASMA_MESSAGE("activity_entered", "14s"),
    PLASMA_MESSAGE("activity_left", "14s"),
    PLASMA_MESSAGE("resource_name_changed", "16s"),
};

static const struct wl_interface plasma_window_interface = {
    "org_kde_plasma_window",
    PLASMA_WINDOW_MANAGEMENT_VERSION,
    PLASMA_COUNT(plasma_window_requests),
    plasma_window_requests,
    PLASMA_COUNT(plasma_window_events),
    plasma_window_events,
};

static const struct wl_message plasma_manager_requests[] = {
    PLASMA_MESSAGE("show_desktop", "u"),
    {"get_window", "nu", PLASMA_TYPES(plasma_window_types)},
    {"get_window_by_uuid", "12ns", PLASMA_TYPES(plasma_window_types)},
};
enum { PLASMA_MANAGER_GET_WINDOW_BY_UUID = 2 };

static const struct wl_message plasma_manager_events[] = {
    PLASMA_MESSAGE("show_desktop_changed", "u"),
    PLASMA_MESSAGE("window", "u"),
    PLASMA_MESSAGE("stacking_order_changed", "11a"),
    PLASMA_MESSAGE("stacking_order_uuid_changed", "12s"),
    PLASMA_MESSAGE("window_with_uuid", "13us"),
};

static const struct wl_interface plasma_manager_interface = {
    "org_kde_plasma_window_management",
    PLASMA_WINDOW_MANAGEMENT_VERSION,
    PLASMA_COUNT(plasma_manager_requests),
    plasma_manager_requests,
    PLASMA_COUNT(plasma_manager_events),
    plasma_manager_events,
};

// Virtual desktops.

static const struct wl_message plasma_desktop_requests[] = {PLASMA_MESSAGE("request_activate", "")};
static const struct wl_message plasma_desktop_events[] = {
    PLASMA_MESSAGE("desktop_id", "s"),  PLASMA_MESSAGE("name", "s"), PLASMA_MESSAGE("activated", ""),
    PLASMA_MESSAGE("deactivated", ""), PLASMA_MESSAGE("done", ""),  PLASMA_MESSAGE("removed", ""),
};
static const struct wl_interface plasma_desktop_interface = {
    "org_kde_plasma_virtual_desktop", 1, 1, plasma_desktop_requests, PLASMA_COUNT(plasma_desktop_events),
    plasma_desktop_events,
};

static const struct wl_message plasma_desktops_requests[] = {
    {"get_virtual_desktop", "ns", PLASMA_TYPES(plasma_desktop_types)},
    PLASMA_MESSAGE("request_create_virtual_desktop", "su"),
    PLASMA_MESSAGE("request_remove_virtual_desktop", "s"),
};
static const struct wl_message plasma_desktops_events[] = {
    PLASMA_MESSAGE("desktop_created", "su"),
    PLASMA_MESSAGE("desktop_removed", "s"),
    PLASMA_MESSAGE("done", ""),
    PLASMA_MESSAGE("rows", "2u"),
};
static const struct wl_interface plasma_desktops_interface = {
    "org_kde_plasma_virtual_desktop_management",
    PLASMA_VIRTUAL_DESKTOPS_VERSION,
    PLASMA_COUNT(plasma_desktops_requests),
    plasma_desktops_requests,
    PLASMA_COUNT(plasma_desktops_events),
    plasma_desktops_events,
};

// Outputs, in the coordinates of windows.

static const struct wl_message xdg_output_requests[] = {PLASMA_MESSAGE("destroy", "")};
static const struct wl_message xdg_output_events[] = {
    PLASMA_MESSAGE("logical_position", "ii"), PLASMA_MESSAGE("logical_size", "ii"), PLASMA_MESSAGE("done", ""),
    PLASMA_MESSAGE("name", "2s"),             PLASMA_MESSAGE("description", "2s"),
};
static const struct wl_interface xdg_output_interface = {
    "zxdg_output_v1", XDG_OUTPUT_VERSION, 1, xdg_output_requests, PLASMA_COUNT(xdg_output_events), xdg_output_events,
};

static const struct wl_message xdg_outputs_requests[] = {
    PLASMA_MESSAGE("destroy", ""),
    {"get_xdg_output", "no", PLASMA_TYPES(xdg_output_types)},
};
static const struct wl_interface xdg_outputs_interface = {
    "zxdg_output_manager_v1", XDG_OUTPUT_VERSION, PLASMA_COUNT(xdg_outputs_requests), xdg_outputs_requests, 0, NULL,
};

// Handlers of the events, in the order of the tables.

struct plasma_manager_listener {
  void (*show_desktop_changed)(void *data, struct wl_proxy *manager, uint32_t state);
  void (*window)(void *data, struct wl_proxy *manager, uint32_t id);
  void (*stacking_order_changed)(void *data, struct wl_proxy *manager, struct wl_array *ids);
  void (*stacking_order_uuid_changed)(void *data, struct wl_proxy *manager, const char *uuids);
  void (*window_with_uuid)(void *data, struct wl_proxy *manager, uint32_t id, const char *uuid);
};

struct plasma_window_listener {
  void (*title_changed)(void *data, struct wl_proxy *window, const char *title);
  void (*app_id_changed)(void *data, struct wl_proxy *window, const char *app_id);
  void (*state_changed)(void *data, struct wl_proxy *window, uint32_t state);
  void (*virtual_desktop_changed)(void *data, struct wl_proxy *window, int32_t number);
  void (*themed_icon_name_changed)(void *data, struct wl_proxy *window, const char *name);
  void (*unmapped)(void *data, struct wl_proxy *window);
  void (*initial_state)(void *data, struct wl_proxy *window);
  void (*parent_window)(void *data, struct wl_proxy *window, struct wl_proxy *parent);
  void (*geometry)(void *data, struct wl_proxy *window, int32_t x, int32_t y, uint32_t width, uint32_t height);
  void (*icon_changed)(void *data, struct wl_proxy *window);
  void (*pid_changed)(void *data, struct wl_proxy *window, uint32_t pid);
  void (*virtual_desktop_entered)(void *data, struct wl_proxy *window, const char *id);
  void (*virtual_desktop_left)(void *data, struct wl_proxy *window, const char *id);
  void (*application_menu)(void *data, struct wl_proxy *window, const char *service, const char *path);
  void (*activity_entered)(void *data, struct wl_proxy *window, const char *id);
  void (*activity_left)(void *data, struct wl_proxy *window, const char *id);
  void (*resource_name_changed)(void *data, struct wl_proxy *window, const char *name);
};

struct plasma_desktops_listener {
  void (*desktop_created)(void *data, struct wl_proxy *desktops, const char *id, uint32_t position);
  void (*desktop_removed)(void *data, struct wl_proxy *desktops, const char *id);
  void (*done)(void *data, struct wl_proxy *desktops);
  void (*rows)(void *data, struct wl_proxy *desktops, uint32_t rows);
};

struct plasma_desktop_listener {
  void (*desktop_id)(void *data, struct wl_proxy *desktop, const char *id);
  void (*name)(void *data, struct wl_proxy *desktop, const char *name);
  void (*activated)(void *data, struct wl_proxy *desktop);
  void (*deactivated)(void *data, struct wl_proxy *desktop);
  void (*done)(void *data, struct wl_proxy *desktop);
  void (*removed)(void *data, struct wl_proxy *desktop);
};

struct xdg_output_listener {
  void (*logical_position)(void *data, struct wl_proxy *output, int32_t x, int32_t y);
  void (*logical_size)(void *data, struct wl_proxy *output, int32_t width, int32_t height);
  void (*done)(void *data, struct wl_proxy *output);
  void (*name)(void *data, struct wl_proxy *output, const char *name);
  void (*description)(void *data, struct wl_proxy *output, const char *description);
};

static inline struct wl_proxy *plasma_bind_manager(struct wl_registry *registry, uint32_t name, uint32_t version) {
  return (struct wl_proxy *)wl_registry_bind(registry, name, &plasma_manager_interface, version);
}

static inline struct wl_proxy *plasma_bind_desktops(struct wl_registry *registry, uint32_t name, uint32_t version) {
  return (struct wl_proxy *)wl_registry_bind(registry, name, &plasma_desktops_interface, version);
}

static inline struct wl_proxy *xdg_bind_outputs(struct wl_registry *registry, uint32_t name, uint32_t version) {
  return (struct wl_proxy *)wl_registry_bind(registry, name, &xdg_outputs_interface, version);
}

static inline void plasma_listen_to_manager(
    struct wl_proxy *manager, const struct plasma_manager_listener *listener, void *data) {
  wl_proxy_add_listener(manager, (void (**)(void))listener, data);
}

static inline void plasma_listen_to_window(
    struct wl_proxy *window, const struct plasma_window_listener *listener, void *data) {
  wl_proxy_add_listener(window, (void (**)(void))listener, data);
}

static inline void plasma_listen_to_desktops(
    struct wl_proxy *desktops, const struct plasma_desktops_listener *listener, void *data) {
  wl_proxy_add_listener(desktops, (void (**)(void))listener, data);
}

static inline void plasma_listen_to_desktop(
    struct wl_proxy *desktop, const struct plasma_desktop_listener *listener, void *data) {
  wl_proxy_add_listener(desktop, (void (**)(void))listener, data);
}

static inline void xdg_listen_to_output(
    struct wl_proxy *output, const struct xdg_output_listener *listener, void *data) {
  wl_proxy_add_listener(output, (void (**)(void))listener, data);
}

static inline struct wl_proxy *plasma_window_by_uuid(struct wl_proxy *manager, const char *uuid) {
  return wl_proxy_marshal_flags(
      manager, PLASMA_MANAGER_GET_WINDOW_BY_UUID, &plasma_window_interface, wl_proxy_get_version(manager), 0, NULL,
      uuid);
}

static inline struct wl_proxy *plasma_desktop_by_id(struct wl_proxy *desktops, const char *id) {
  return wl_proxy_marshal_flags(desktops, 0, &plasma_desktop_interface, 1, 0, NULL, id);
}

static inline struct wl_proxy *xdg_output_of(struct wl_proxy *outputs, struct wl_output *output) {
  return wl_proxy_marshal_flags(outputs, 1, &xdg_output_interface, wl_proxy_get_version(outputs), 0, NULL, output);
}

static inline void plasma_window_set_state(struct wl_proxy *window, uint32_t which, uint32_t state) {
  wl_proxy_marshal_flags(window, PLASMA_WINDOW_SET_STATE, NULL, wl_proxy_get_version(window), 0, which, state);
}

static inline void plasma_window_close(struct wl_proxy *window) {
  wl_proxy_marshal_flags(window, PLASMA_WINDOW_CLOSE, NULL, wl_proxy_get_version(window), 0);
}

static inline void plasma_window_enter_desktop(struct wl_proxy *window, const char *id) {
  wl_proxy_marshal_flags(window, PLASMA_WINDOW_ENTER_DESKTOP, NULL, wl_proxy_get_version(window), 0, id);
}

static inline void plasma_window_leave_desktop(struct wl_proxy *window, const char *id) {
  wl_proxy_marshal_flags(window, PLASMA_WINDOW_LEAVE_DESKTOP, NULL, wl_proxy_get_version(window), 0, id);
}

static inline void plasma_window_send_to_output(struct wl_proxy *window, struct wl_output *output) {
  wl_proxy_marshal_flags(window, PLASMA_WINDOW_SEND_TO_OUTPUT, NULL, wl_proxy_get_version(window), 0, output);
}

static inline void plasma_window_destroy(struct wl_proxy *window) {
  wl_proxy_marshal_flags(
      window, PLASMA_WINDOW_DESTROY, NULL, wl_proxy_get_version(window), WL_MARSHAL_FLAG_DESTROY);
}
