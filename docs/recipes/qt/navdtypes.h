// The types that qdbusxml2cpp finds in the files of dbus/ and that Qt does not have, for Qt 5 and 6. Copy this file, and generate with
//     qdbusxml2cpp org.navd.Coordinator1.xml -i navdtypes.h -p coordinator
// Call registerNavdTypes() once, before the first call.
#pragma once

#include <QtDBus/QtDBus>

using NavdVariables = QMap<QString, QString>;
using NavdLimits = QMap<QString, qulonglong>;

// An element for SetPath.
struct NavdRequestedElement {
  QString binding, id;
  QVariantMap options;
};

// A request for Apply: the name of a method, and its arguments.
struct NavdRequest {
  QString method;
  QVariantList arguments;
};

// An element of the path in the signal PathChanged.
struct NavdPathElement {
  QString binding, id;
};

// An answer of Members.
struct NavdMember {
  QString binding, id;
  QDBusObjectPath handle;
  qulonglong presentation;
  QVariantMap containerValues;
};

// An answer of Destinations.
struct NavdDestination {
  QString name;
  QVariantMap properties;
};

// A window of org.navd.WindowSystem1.
struct NavdWindow {
  QString id;
  QVariantMap properties;
};

#define NAVD_STRUCTURE(Type, writing, reading)                           \
  inline QDBusArgument &operator<<(QDBusArgument &argument, const Type &v) { \
    argument.beginStructure();                                           \
    argument writing;                                                    \
    argument.endStructure();                                             \
    return argument;                                                     \
  }                                                                      \
  inline const QDBusArgument &operator>>(const QDBusArgument &argument, Type &v) { \
    argument.beginStructure();                                           \
    argument reading;                                                    \
    argument.endStructure();                                             \
    return argument;                                                     \
  }

NAVD_STRUCTURE(NavdRequestedElement, << v.binding << v.id << v.options, >> v.binding >> v.id >> v.options)
NAVD_STRUCTURE(NavdRequest, << v.method << v.arguments, >> v.method >> v.arguments)
NAVD_STRUCTURE(NavdPathElement, << v.binding << v.id, >> v.binding >> v.id)
NAVD_STRUCTURE(NavdMember, << v.binding << v.id << v.handle << v.presentation << v.containerValues,
               >> v.binding >> v.id >> v.handle >> v.presentation >> v.containerValues)
NAVD_STRUCTURE(NavdDestination, << v.name << v.properties, >> v.name >> v.properties)
NAVD_STRUCTURE(NavdWindow, << v.id << v.properties, >> v.id >> v.properties)

#undef NAVD_STRUCTURE

// Qt 5 needs these; Qt 6 does without.
Q_DECLARE_METATYPE(NavdLimits)
Q_DECLARE_METATYPE(NavdRequestedElement)
Q_DECLARE_METATYPE(NavdRequest)
Q_DECLARE_METATYPE(NavdPathElement)
Q_DECLARE_METATYPE(NavdMember)
Q_DECLARE_METATYPE(NavdDestination)
Q_DECLARE_METATYPE(NavdWindow)

template <typename Type> void registerNavdType() {
  qDBusRegisterMetaType<Type>();
  qDBusRegisterMetaType<QList<Type>>();
}

inline void registerNavdTypes() {
  qDBusRegisterMetaType<NavdVariables>();
  qDBusRegisterMetaType<NavdLimits>();
  // QDBusInterface finds it by its name.
  qRegisterMetaType<NavdLimits>("NavdLimits");
  qDBusRegisterMetaType<QList<QVariantMap>>();
  qDBusRegisterMetaType<QList<QVariantList>>();
  registerNavdType<NavdRequestedElement>();
  registerNavdType<NavdRequest>();
  registerNavdType<NavdPathElement>();
  registerNavdType<NavdMember>();
  registerNavdType<NavdDestination>();
  registerNavdType<NavdWindow>();
}
